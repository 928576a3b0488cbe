"""CRC-32C, the checksum of frames and sections (docs/decisions/0002)."""


def crc32c(*parts: bytes | bytearray | memoryview, before: int = 0) -> int:
    """The CRC-32C of the parts together, continued from a value `before`."""
    import crc32c as library

    value = before
    for part in parts:
        value = library.crc32c(part, value)
    return value
