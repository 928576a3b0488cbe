"""Which definition a name means, for one kind of symbol (specification §20.6, §20.7, §20.14).

A local name resolves to a lineage, and it is ambiguous only when two distinct lineages export it. A lineage
resolves to its current write version: the greatest active version of its package that defines it. An exact ref
resolves to exactly the definition it names. A declared rename makes the old name, the old lineage and
everything written under it belong to the new lineage.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, NoReturn, TypeVar

from kipql.errors import KipError
from kipql.schema.artifacts import FILES
from kipql.schema.definitions import Definition
from kipql.schema.packages import Package, shipped
from kipql.schema.refs import parse_exact, version_key, written_lineage
from kipql.values import json_type

D = TypeVar("D", bound=Definition)


@dataclass(frozen=True, slots=True, eq=False)
class Table(Generic[D]):
    """Every way to name a definition of one kind, as dictionaries."""

    word: str
    names: Mapping[str, D]  # local names, aliases, lineages and exact refs that mean one thing
    ambiguous: Mapping[str, tuple[str, ...]]  # local names that several lineages export
    lineages: Mapping[str, str]  # exact and lineage refs -> the lineage after renames
    exact: tuple[str, ...]  # the exact refs of every version
    current: tuple[D, ...]  # write versions, ordered by ref
    by_lineage: Mapping[str, D]

    def get(self, name: str) -> D:
        """The definition that `name` means. Raises SchemaSymbolNotFound or SchemaSymbolAmbiguous."""
        found = self.find(name)
        if found is None:
            self._missing(name)
        return found

    def find(self, name: str) -> D | None:
        """Like `get`, but None when nothing has that name; an ambiguous name still raises."""
        if name.__class__ is not str and not isinstance(name, str):
            raise KipError("TypeMismatch", f"a {self.word} is named by a string, not {json_type(name)}")
        found = self.names.get(name)
        if found is None and name in self.ambiguous:
            refs = [self.by_lineage[lineage].ref for lineage in self.ambiguous[name]]
            raise KipError(
                "SchemaSymbolAmbiguous",
                f"{self.word} {name!r} is exported by several packages",
                hint=f"write the exact ref: {' or '.join(refs)}",
                details={"candidates": refs},
            )
        return found

    def writable(self, definition: D) -> D:
        """The version that a new element is bound to (§20.14). Raises SchemaSymbolNotFound when it was retired."""
        current = self.by_lineage[definition.lineage]
        if current.status == "retired":
            raise KipError(
                "SchemaSymbolNotFound",
                f"{self.word} {definition.ref} was retired",
                hint="what was written under it stays readable; write under another symbol",
            )
        return current

    def _missing(self, name: str) -> NoReturn:
        raise KipError("SchemaSymbolNotFound", f"there is no {self.word} {name!r}", hint=self._hint(name))

    def _hint(self, name: str) -> str:
        from kipql.lang.words import near

        exact = parse_exact(name)
        known = self.names.get(exact.lineage) if exact else None
        if exact and known:
            return f"{exact.package_id} is active in another version: {known.ref}"
        local = exact.name if exact else name.rpartition("/")[2]
        if local not in self.names and (package := _shipping(self.word, local)):
            return f"{package} has it and is not active here: open with packages=[...], or --package {package}"
        candidates = [candidate for candidate in self.names if "/" not in candidate]
        close = near(local, [*candidates, *self.ambiguous])
        return (
            f"did you mean {close!r}?"
            if close
            else f"LIST {self.word.removeprefix('Concept ').upper()}S shows what there is"
        )


def _shipping(word: str, local: str) -> str | None:
    """The package that ships with kipql and has a symbol of this kind and name: a memory must activate it first."""
    for ref in FILES:
        package = shipped(ref)
        groups = package.definitions.values() if package else ()
        if any(word == one.WORD and one.local_name == local for group in groups for one in group.values()):
            return ref
    return None


def build(
    kind: type[D],
    packages: Iterable[Package],
    renames: Mapping[str, str],
    resolve: Callable[[D, Package], D],
) -> Table[D]:
    """The table of one kind over all active packages.

    renames   lineage -> successor, as declared by packages and promotions
    resolve   fills in what only the Environment knows (endpoint types)
    """
    packages = sorted(packages, key=lambda package: version_key(package.version))
    written: list[tuple[D, Package]] = []
    retired: set[str] = set()
    for package in packages:
        written += [(definition, package) for definition in package.definitions[kind.GROUP].values()]  # type: ignore[misc]
        retired |= {lineage for group, lineage in package.retired if group == kind.GROUP}
        retired -= {definition.lineage for definition in package.definitions[kind.GROUP].values()}
    newest = {definition.lineage: definition.ref for definition, _ in written}
    names: dict[str, D] = {}
    lineages = {old: successor(renames, old) for old in renames}
    by_lineage: dict[str, D] = {}
    for definition, package in written:
        lineage = successor(renames, definition.lineage)
        lineages[definition.ref] = lineages[definition.lineage] = lineage
        status = "retired" if definition.lineage in retired else "active"
        if newest.get(lineage) != definition.ref and status == "active":
            status = "superseded"
        resolved = names[definition.ref] = resolve(replace(definition, lineage=lineage, status=status), package)
        if newest.get(lineage) == definition.ref:
            by_lineage[lineage] = resolved
    if lost := sorted(set(lineages.values()) - set(by_lineage)):
        raise KipError("SchemaSymbolNotFound", f"a {kind.WORD} is renamed to {lost[0]}, which is not defined")
    exported = _exported(kind, packages, lineages, by_lineage)
    names.update({ref: by_lineage[final] for ref, final in lineages.items() if ref not in names})
    names.update({name: by_lineage[found[0]] for name, found in exported.items() if len(found) == 1})
    return Table(
        word=kind.WORD,
        names=names,
        ambiguous={name: found for name, found in exported.items() if len(found) > 1},
        lineages=lineages,
        exact=tuple(definition.ref for definition, _ in written),
        current=tuple(sorted((d for d in by_lineage.values() if d.status == "active"), key=lambda d: d.ref)),
        by_lineage=by_lineage,
    )


def _exported(
    kind: type[D], packages: Iterable[Package], lineages: Mapping[str, str], known: Mapping[str, D]
) -> dict[str, tuple[str, ...]]:
    """The lineages that each local name or alias stands for, in a fixed order."""
    exported: dict[str, set[str]] = {}
    for lineage, final in lineages.items():
        exported.setdefault(lineage.rpartition("/")[2], set()).add(final)
    for package in packages:
        for alias, target in package.aliases.get(kind.GROUP, {}).items():
            full = target if target.startswith("kip://") else f"{package.package_id}/{target}"
            meant = lineages.get(full) or lineages.get(written_lineage(full) or "")
            if meant is None or meant not in known:
                raise KipError(
                    "SchemaSymbolNotFound", f"{package.ref}: the alias {alias!r} stands for nothing: {target}"
                )
            exported.setdefault(alias, set()).add(meant)
    return {name: tuple(sorted(found)) for name, found in exported.items()}


def successor(renames: Mapping[str, str], lineage: str) -> str:
    """The last lineage of a chain of renames. Raises ConstraintViolation when the chain has no end."""
    seen = {lineage}
    while lineage in renames:
        lineage = renames[lineage]
        if lineage in seen:
            raise KipError("ConstraintViolation", f"the declared renames of {lineage} go round in a circle")
        seen.add(lineage)
    return lineage
