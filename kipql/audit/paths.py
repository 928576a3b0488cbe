"""What a script may read beside itself: a file inside its own folder, and nothing that leads out of it.

A script may come from somebody else's repository. So a path in it is relative, and where it really leads, links
included, must lie in the folder of the script.
"""

from pathlib import Path

from kipql.errors import KipError

LARGEST = 16 * 1024 * 1024


def beside(script: str, name: str) -> Path:
    """The file that a script at `script` names as `name`.

    Raises InvalidSyntax for an absolute path, for one that leads out of the script's folder, and for a script on
    standard input, which has none; ArtifactUnavailable for what is not a file.
    """
    if script == "-":
        raise KipError("InvalidSyntax", "a script on standard input has no folder to read a file from")
    if "\x00" in name or Path(name).is_absolute() or name.startswith(("/", "\\")) or ":" in name.partition("/")[0]:
        raise KipError("InvalidSyntax", f"{name!r} is not a relative path inside the script's folder")
    folder = Path(script).resolve().parent
    try:
        found = (folder / name).resolve()
        there = found.is_file()
    except (OSError, RuntimeError) as error:
        what = error.strerror if isinstance(error, OSError) else error
        raise KipError("ArtifactUnavailable", f"{name}: {what}") from None
    if not found.is_relative_to(folder):
        raise KipError("InvalidSyntax", f"{name!r} leads out of the script's folder")
    if not there:
        raise KipError("ArtifactUnavailable", f"{name}: No such file beside {Path(script).name}")
    return found


def read_beside(script: str, name: str) -> str:
    """The text of a file beside a script. Raises as `beside`, ArtifactTooLarge, ArtifactParseError."""
    path = beside(script, name)
    try:
        if path.stat().st_size > LARGEST:
            raise KipError("ArtifactTooLarge", f"{name} has more than {LARGEST} bytes")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise KipError("ArtifactParseError", f"{name} is not UTF-8: byte {error.start}") from None
    except OSError as error:
        raise KipError("ArtifactUnavailable", f"{name}: {error.strerror}") from None
