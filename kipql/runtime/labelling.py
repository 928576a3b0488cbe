"""Protected facts of elements: classification, authority, quarantine (specification §31)."""

from kipql.errors import KipError
from kipql.govern.authority import AUTHORITY_CLASSES
from kipql.runtime import rules
from kipql.runtime.deciding import Deciding
from kipql.runtime.receipt import Receipt


class Labelling(Deciding):
    """What the host says about elements."""

    __slots__ = ()

    def labels(self, *order: str, unclassified: str | None = None) -> Receipt:
        """Declare the classification labels, least restricted first (§31.1).

        unclassified  the label that an element without one counts as under `up_to`; without it, any ceiling admits it

        >>> import kipql
        >>> kipql.open().govern.labels("public", "internal", "secret").status
        'committed'
        """
        self._require("manage_policy")
        if not all(isinstance(label, str) and label for label in order) or len(set(order)) != len(order):
            raise KipError("ConstraintViolation", "labels are distinct, non-empty strings")
        if unclassified is not None and unclassified not in order:
            raise KipError("ConstraintViolation", f"{unclassified!r} is none of the labels")
        return self._change([{"op": "labels", "order": list(order), "unclassified": unclassified}])

    def classify(self, targets: object, label: str | None) -> Receipt:
        """Classify elements, or take their classification away with None (§31.1).

        targets  an id, a reference, an element, or a list of them

        Lowering a label needs `declassify`, raising one `manage_policy`. Raises NotFoundOrNotVisible,
        ConstraintViolation for a label that is not declared, NotAuthorized, ReadonlyViolation.
        """
        labels = self._policy.labels
        if label is not None:
            rules.check_label(self._policy, label)
        rank = -1 if label is None else labels.rank(label)
        codes = rules.codes(self._session, targets)
        for code in codes:
            held = self._session.space.view().record(code).classification
            lower = held is not None and rank < labels.rank(held)
            self._require("declassify" if lower else "manage_policy")
        return self._elements("classify", codes, {"classification": label})

    def elevate(self, targets: object, authority_class: str) -> Receipt:
        """Say how far elements may influence behaviour (§31.3): descriptive, advisory, behavioral or executable."""
        self._require("elevate_authority")
        if authority_class not in AUTHORITY_CLASSES:
            hint = f"one of {', '.join(AUTHORITY_CLASSES)}"
            raise KipError("ConstraintViolation", f"{authority_class!r} is no authority class", hint=hint)
        value = None if authority_class == AUTHORITY_CLASSES[0] else authority_class
        return self._elements("elevate", rules.codes(self._session, targets), {"authority_class": value})

    def quarantine(self, targets: object) -> Receipt:
        """Take elements out of recall and out of projection without saying anything about them (§31.6)."""
        self._require("quarantine")
        return self._elements("quarantine", rules.codes(self._session, targets), {"quarantined": True})

    def release(self, targets: object) -> Receipt:
        """Release elements from quarantine."""
        self._require("quarantine")
        return self._elements("release", rules.codes(self._session, targets), {"quarantined": False})
