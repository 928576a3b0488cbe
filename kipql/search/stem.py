"""English stems: Porter's second algorithm, the one the field calls Porter2.

`relations`, `relational` and `relate` become `relat`. Only words of ASCII letters are stemmed; a word of another
language passes through the same rules on both sides, so it still finds itself. Deterministic, no dictionary
beyond a few exceptions.
"""

import re

_VOWELS = frozenset("aeiouy")
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_LI = frozenset("cdeghkmnrt")
_AFTER_VOWEL_CONSONANT = re.compile(r"[aeiouy][^aeiouy]")

_WHOLE = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl",
    "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl", "sky": "sky",
    "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}  # fmt: skip
_KEPT = frozenset(("inning", "outing", "evening", "canning", "herring", "earring", "proceed", "exceed", "succeed"))
_PREFIXES = ("gener", "commun", "arsen", "past", "univers", "later", "emerg", "organ", "inter")  # end R1 early or late

_STEP_2 = (
    ("ization", "ize"), ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"),
    ("tional", "tion"), ("biliti", "ble"), ("lessli", "less"), ("entli", "ent"), ("ation", "ate"),
    ("alism", "al"), ("aliti", "al"), ("ousli", "ous"), ("iviti", "ive"), ("fulli", "ful"), ("enci", "ence"),
    ("anci", "ance"), ("abli", "able"), ("izer", "ize"), ("ator", "ate"), ("alli", "al"), ("bli", "ble"),
    ("ogi", "og"), ("li", ""),
)  # fmt: skip
_STEP_3 = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("icate", "ic"), ("iciti", "ic"), ("ative", ""),
    ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "ion", "al", "er", "ic",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a folded word.

    >>> [stem(word) for word in ("hopping", "hoped", "generously", "cities", "running")]
    ['hop', 'hope', 'generous', 'citi', 'run']
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    if word in _WHOLE:
        return _WHOLE[word]
    word = _mark_consonant_y(word)
    first, second = _regions(word)
    word = _plural(word)
    if word in _KEPT:
        return word
    word = _past(word, first)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    word = _derived(word, first)
    word = _adjective(word, first, second)
    word = _noun(word, second)
    return _end(word, first, second).lower()


def _mark_consonant_y(word: str) -> str:
    """A `y` at the start or after a vowel is a consonant, written `Y`."""
    if "y" not in word:
        return word
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin: after the first consonant that follows a vowel, and after the next."""
    first = next((len(prefix) for prefix in _PREFIXES if word.startswith(prefix)), None)
    if first is None:
        match = _AFTER_VOWEL_CONSONANT.search(word)
        first = match.end() if match else len(word)
    match = _AFTER_VOWEL_CONSONANT.search(word, first)
    return first, match.end() if match else len(word)


def _has_vowel(text: str) -> bool:
    return not _VOWELS.isdisjoint(text)


def _short_end(word: str) -> bool:
    """Whether the word ends in a short syllable."""
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    if len(word) < 3:
        return False
    before, vowel, last = word[-3], word[-2], word[-1]
    return before not in _VOWELS and vowel in _VOWELS and last not in _VOWELS and last not in "wxY"


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _past(word: str, first: int) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            return word[: -len(suffix)] + "ee" if len(word) - len(suffix) >= first else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _restored(rest, first) if _has_vowel(rest) else word
    return word


def _restored(rest: str, first: int) -> str:
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest.endswith(_DOUBLES):
        return rest if len(rest) == 3 and rest[0] in "aeo" else rest[:-1]  # add, egg, odd
    return rest + "e" if len(rest) <= first and _short_end(rest) else rest


def _derived(word: str, first: int) -> str:
    for suffix, instead in _STEP_2:
        if not word.endswith(suffix):
            continue
        at = len(word) - len(suffix)
        before = word[at - 1 : at]
        if at < first or (suffix == "ogi" and before != "l") or (suffix == "li" and before not in _LI):
            return word
        return word[:at] + instead
    return word


def _adjective(word: str, first: int, second: int) -> str:
    for suffix, instead in _STEP_3:
        if word.endswith(suffix):
            at = len(word) - len(suffix)
            return word if at < (second if suffix == "ative" else first) else word[:at] + instead
    return word


def _noun(word: str, second: int) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            at = len(word) - len(suffix)
            if at < second or (suffix == "ion" and word[at - 1 : at] not in ("s", "t")):
                return word
            return word[:at]
    return word


def _end(word: str, first: int, second: int) -> str:
    at = len(word) - 1
    if word.endswith("e") and (at >= second or (at >= first and not _short_end(word[:-1]))):
        return word[:-1]
    if word.endswith("ll") and at >= second:
        return word[:-1]
    return word
