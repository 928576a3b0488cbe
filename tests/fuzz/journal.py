"""The journal reader: whatever a journal holds, it is refused with a code or it is a Space that can be read.

The bytes are read as they are and once more with right checksums, as someone would write them who knows how.
"""

from tests.fuzz.running import instrumented, run

with instrumented(__name__):
    from kipql.errors import KipError
    from kipql.store import Store
    from tests.fuzz.disk import FOLDER, Held, journal_mended
    from tests.store.small import schema

REFUSALS = {"MemoryDamaged", "MemoryFormatUnsupported", "ResourceExhausted"}
_MOST = 1 << 20


def target(data: bytes) -> None:
    """Open the journal, then the mended one; read all of what opens."""
    for bytes_ in (data, journal_mended(data)):
        _read(bytes_)


def _read(data: bytes) -> None:
    try:
        space = Store(FOLDER, readonly=True, files=Held({"journal": data}), schema=schema)
        for seq in range(space.head + 1):
            space.digest(space.view(seq))
    except KipError as error:
        assert error.code in REFUSALS, f"{error.code}: {error.message}"


if __name__ == "__main__":
    run("journal", target, ("KIPQL\r\n\x1a",))
