"""What something needs beside the base installation: looked for where it is used, and missed with a way to get it."""

from importlib import import_module

from kipql.errors import KipError


def need(extra: str, *modules: str) -> None:
    """Raises UnsupportedCapability when a module of an extra is not installed."""
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            raise KipError(
                "UnsupportedCapability", f"{module} is not installed", hint=f'pip install "kipql[{extra}]"'
            ) from None
