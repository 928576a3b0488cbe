"""Text -> AST: nothing but a KipError comes out, and what parses is written again without another meaning."""

from tests.fuzz.running import instrumented, run

with instrumented(__name__):
    import kipql
    from kipql.audit.static import check_statement
    from kipql.errors import KipError
    from kipql.lang import is_mutation, walk

WORDS = (
    "FIND", "WHERE", "CONCEPT", "PROPOSITION", "ASSERTION", "EVIDENCE", "ACTIVITY", "OPTIONAL", "UNION", "NOT",
    "FILTER", "BELIEF", "BELIEF SLOT", "SEARCH", "AS OF SEQ", "FOR TIME", "EPISTEMIC", "ORDER BY", "ASC", "DESC",
    "LIMIT", "CURSOR", "COUNT(", "DISTINCT", "SUM(", "REGEX(", "IN(", "IS_NULL(", "CREATE", "ENSURE", "UPSERT",
    "ASSERT", "UPDATE", "MERGE", "SUPERSEDE", "RETRACT", "CORRECT", "TRANSITION", "PURGE", "ARCHIVE", "MUTATE {",
    "SET FIELDS", "SET ATTRIBUTES", "SET FACET", "SET STRUCTURAL", "EXPECT VERSION", "TYPE", "NAME", "DESCRIBE",
    "LIST", "HISTORY", "CHANGES", "SINCE", "VERIFY", "VALIDATE", "PREVIEW", "KML", "EXPORT CAPSULE",
    "IMPORT CAPSULE", "STRUCTURAL", "DEFINE", "WITH", "FROM", "?a", ":p", "{1,3}", "{1,}", "{", "}", "(", ")", "[",
    "]", "<", ">", "==", "!=", "<=", ">=", "&&", "||", "!", "//", '"knows"', '"\\u0041"', "null", "true", "-1",
    "0.5", "1e9", "id:", "type:", "key:",
)  # fmt: skip


def target(data: bytes) -> None:
    """Parse, check, classify, format and parse again."""
    text = data.decode("utf-8", "surrogatepass" if b"\xed" in data else "replace") if _decodes(data) else ""
    for act in (kipql.split, check_statement):
        _refused_or_done(act, text)
    try:
        tree = kipql.parse(text)
    except KipError as error:
        _sound(error, text)
        return
    assert kipql.classify(tree) in ("KQL", "KML", "META")
    assert isinstance(is_mutation(tree), bool)
    walk.parameters(tree)
    assert kipql.parse(kipql.format(text)) == tree, "formatting changes the meaning"


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return b"\xed" not in data
    return True


def _refused_or_done(act: object, text: str) -> None:
    try:
        act(text)  # type: ignore[operator]
    except KipError as error:
        _sound(error, text)


def _sound(error: KipError, text: str) -> None:
    """An error can be shown and lies within the text."""
    assert error.code != "InternalError", error.message
    str(error)
    if error.span is not None:
        assert 0 <= error.span.start <= error.span.end <= len(text), error.span


if __name__ == "__main__":
    run("text", target, WORDS)
