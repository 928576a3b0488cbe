"""Running a target under atheris (libFuzzer), and the corpus that CI replays without it.

    pip install -e '.[fuzz]'
    python -m tests.fuzz.text -max_total_time=300          # any flag of libFuzzer
    python -m tests.fuzz.text tests/fuzz/corpus/text/name  # one input again

What a run finds new goes to `.fuzz/<target>`, an input that fails to `.fuzz/`. A target is a function of bytes that
raises for what may not happen. Everything it imports from kipql is instrumented, so it imports inside `instrumented`.
"""

import logging
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from tests.shared import ROOT

CORPUS = Path(__file__).parent / "corpus"
WORK = ROOT / ".fuzz"
Target = Callable[[bytes], None]
Mutator = Callable[[bytes, int, int], bytes]


def instrumented(name: str) -> "AbstractContextManager[object]":
    """Around the imports of a target: when it is the program that runs, they are instrumented."""
    if name != "__main__":
        return nullcontext()
    import atheris

    found: AbstractContextManager[object] = atheris.instrument_imports(include=["kipql"])
    return found


def inputs(name: str) -> list[Path]:
    """The corpus of a target, in order."""
    return sorted(path for path in (CORPUS / name).iterdir() if path.is_file())


def run(name: str, target: Target, words: tuple[str, ...] = (), mutator: Mutator | None = None) -> None:
    """Fuzz, or replay the files given. Never returns.

    words    tokens that libFuzzer may put in
    mutator  (input, longest, seed) -> another input, in place of libFuzzer's own
    """
    import atheris

    logging.disable()
    finds = WORK / name
    finds.mkdir(parents=True, exist_ok=True)
    arguments = sys.argv[1:]
    if not any(not argument.startswith("-") for argument in arguments):
        arguments += [str(finds), str(CORPUS / name), f"-artifact_prefix={WORK}/{name}-"]
        if words:
            listed = WORK / f"{name}.dict"
            listed.write_text("".join(f'"{_escaped(word)}"\n' for word in words), encoding="ascii")
            arguments.append(f"-dict={listed}")
    with instrumented("__main__"):  # some modules are imported when they are needed
        for path in inputs(name):
            target(path.read_bytes())  # imports take longer than an input may
        options = {} if mutator is None else {"custom_mutator": mutator}
        atheris.Setup([sys.argv[0], *arguments], target, **options)
        atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(
        character if character.isalnum() or character in " _-.?:<>=!&|(){}[],;" else f"\\x{byte:02x}"
        for character in word
        for byte in character.encode()[:1]
    )
