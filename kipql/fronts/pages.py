"""The pages of docs/ that a front shows: in a checkout the folder beside the package, else `kipql/docs`."""

from pathlib import Path

from kipql.errors import KipError

_PACKAGE = Path(__file__).resolve().parents[1]


def page(name: str) -> str:
    """The text of a page, such as "syntax.md". Raises ArtifactUnavailable where a distribution left it out."""
    for folder in (_PACKAGE / "docs", _PACKAGE.parent / "docs"):
        if (folder / name).is_file():
            return (folder / name).read_text("utf-8")
    raise KipError("ArtifactUnavailable", f"the page {name} is not part of this installation")
