"""The snapshot reader: whatever a snapshot holds, it is refused with a code or the Space opens.

As it is, and with right checksums. Numbers that point nowhere are found when they are followed (docs/storage.md): then
the door of the package makes an InternalError of it. A crash, a hang or endless memory is what may not happen.
"""

from tests.fuzz.running import instrumented, run

with instrumented(__name__):
    from kipql.errors import KipError
    from kipql.runtime.guard import as_kip_error
    from kipql.store import Store
    from kipql.store.journal import Base, header
    from tests.fuzz.disk import FOLDER, Held, snapshot_mended
    from tests.store.small import schema

REFUSALS = {"MemoryDamaged", "MemoryFormatUnsupported", "ResourceExhausted"}


def target(data: bytes) -> None:
    """Open a folder whose journal goes on after this snapshot; read what opens."""
    for bytes_ in (data, snapshot_mended(data)):
        _read(bytes_)


def _read(data: bytes) -> None:
    files = Held({"snapshot-000000000008": data, "journal": header(Base(1, 0))})
    try:
        space = Store(FOLDER, readonly=True, files=files, schema=schema)
    except KipError as error:
        assert error.code in REFUSALS, f"{error.code}: {error.message}"
        return
    try:
        for seq in {0, space.head // 2, space.head}:
            space.digest(space.view(seq))
    except Exception as error:
        assert as_kip_error(error).code in {*REFUSALS, "InternalError"}


if __name__ == "__main__":
    run("snapshot", target, ("KIPSS\r\n\x1a",))
