"""Which questions documents answer first: those of policy, procedure, definition and limit.

Relations, preferences and history are the graph's. The routing goes by the words of the question and is a default: a
caller who knows better names the mode.
"""

import re

_DOCUMENT = re.compile(
    r"\b(polic(?:y|ies)|procedures?|regulations?|guidelines?|handbook|defin(?:e|ed|ition|itions)|"
    r"what (?:is|does) (?:the )?(?:meaning|definition|mean)|what does \S+ mean|"
    r"limits?|maximum|minimum|quota|threshold|how many \w+ (?:are|is) allowed|allowed|permitted|entitled)\b",
    re.IGNORECASE,
)


def for_documents(query: str) -> bool:
    """Whether documents answer a question first.

    >>> for_documents("What is the leave policy?"), for_documents("Where does Ada live?")
    (True, False)
    """
    return _DOCUMENT.search(query) is not None
