"""Hypothesis strategies for syntax trees that have a text: every class of node, every optional part."""

from unicodedata import normalize

from hypothesis import strategies as st

from kipql.lang import ast

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True) | st.sampled_from(["limit", "true", "id", "SET"])
strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).map(lambda text: normalize("NFC", text))
keys = names | strings
integers = st.integers(-(2**53 - 1), 2**53 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: not value.is_integer())

variables = st.builds(ast.Var, names)
parameters = st.builds(ast.Param, names)
texts = st.builds(ast.Literal, strings)
literals = st.builds(ast.Literal, st.none() | st.booleans() | integers | floats | strings)
values = literals | parameters
symbols = texts | parameters
targets = symbols | variables
paths = st.builds(ast.Path, variables, st.lists(keys, min_size=1, max_size=3).map(tuple))


def objects(members):
    pairs = st.lists(st.tuples(keys, members), max_size=3, unique_by=lambda pair: pair[0])
    return pairs.map(lambda items: ast.Object(tuple(ast.Member(name, value) for name, value in items)))


def several(items, least=0, most=3):
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def maybe(item):
    return st.none() | item


# --- expressions ----------------------------------------------------------------------------------------


def _data(expressions):
    aggregates = st.sampled_from(["COUNT", "sum", "Avg", "MIN", "max"])
    return (
        st.builds(ast.Array, several(expressions))
        | objects(expressions)
        | st.builds(ast.Call, names.filter(lambda name: name not in ("true", "false", "null")), several(expressions))
        | st.builds(ast.Call, aggregates, st.tuples(expressions), st.just(True))
    )


leaves = variables | parameters | literals | paths
data = st.recursive(leaves, _data, max_leaves=6)


def _operations(inner):
    not_numbers = inner.filter(
        lambda node: not isinstance(node, ast.Literal) or isinstance(node.value, str | bool | None)
    )
    flat = st.lists(inner, min_size=2, max_size=3)
    return (
        st.builds(ast.Negate, inner)
        | st.builds(ast.Minus, not_numbers)
        | st.builds(ast.Compare, st.sampled_from(["==", "!=", "<", ">", "<=", ">="]), inner, inner)
        | flat.map(lambda items: _chain(ast.And, items))
        | flat.map(lambda items: _chain(ast.Or, items))
    )


def _chain(kind, items):
    """The parser keeps no `&&` directly inside `&&`."""
    flat = [part for item in items for part in (item.items if isinstance(item, kind) else (item,))]
    return kind(tuple(flat))


expressions = st.recursive(data, _operations, max_leaves=8)

# --- patterns -------------------------------------------------------------------------------------------

terms = st.deferred(lambda: variables | parameters | literals | patterns | tuples)
proposition_ids = st.builds(ast.PropositionId, values)
exact = symbols | variables
quantifiers = st.builds(
    lambda low, more: ast.Quantifier(low, None if more is None else low + more),
    st.integers(0, 5),
    maybe(st.integers(0, 5)),
)
hops = st.builds(ast.PathStep, symbols, maybe(quantifiers))
raw_paths = several(hops, 1).filter(lambda steps: len(steps) > 1 or steps[0].quantifier).map(ast.PredicatePath)
flat_terms = variables | parameters | literals
exact_tuples = st.builds(ast.Tuple, flat_terms, exact, flat_terms)
tuples = exact_tuples | st.builds(ast.Tuple, flat_terms, raw_paths, flat_terms) | proposition_ids
pattern_values = st.recursive(
    flat_terms | tuples, lambda inner: objects(inner) | st.builds(ast.Array, several(inner)), max_leaves=4
)
patterns = objects(pattern_values)
exact_patterns = objects(flat_terms | objects(flat_terms))
kinds = st.sampled_from(["Concept", "Proposition", "Assertion", "Evidence", "Activity"])
modes = st.sampled_from([ast.Literal("keyword"), ast.Literal("hybrid")]) | parameters


def _raw(pattern, tuple_, term):
    return (
        st.builds(ast.ElementPattern, variables, st.just("Concept"), pattern, st.booleans())
        | st.builds(ast.ElementPattern, variables, st.sampled_from(["Assertion", "Evidence", "Activity"]), pattern)
        | st.builds(ast.PropositionPattern, maybe(variables), tuple_, st.booleans())
        | st.builds(ast.StructuralPattern, maybe(variables), term, symbols, term)
        | st.builds(ast.Filter, expressions)
    )


searches = st.builds(
    ast.SearchPattern, variables, kinds, values, maybe(values), maybe(values), maybe(modes), maybe(values), values
)
beliefs = st.builds(ast.BeliefPattern, variables, variables | proposition_ids | exact_tuples) | st.builds(
    ast.BeliefSlotPattern, variables, flat_terms, exact
)
raw_clauses = _raw(exact_patterns, exact_tuples | proposition_ids, flat_terms)
clauses = _raw(patterns, tuples, terms) | searches | beliefs


def blocks(items, negated):
    """Blocks of `items`; inside NOT there are only `negated` ones."""

    def nest(inner):
        block = st.builds(ast.Block, several(inner, most=2))
        return st.builds(ast.Optional, block) | st.builds(ast.Union, block)

    inner = st.recursive(items, nest, max_leaves=3) | st.builds(ast.Not, st.builds(ast.Block, several(negated, most=2)))
    return st.builds(ast.Block, several(inner))


wheres = blocks(clauses, raw_clauses)
raw_wheres = blocks(raw_clauses, raw_clauses)

# --- statements -----------------------------------------------------------------------------------------

finds = st.builds(
    ast.Find,
    several(expressions, 1),
    wheres,
    maybe(values),
    maybe(values),
    maybe(objects(data)),
    several(st.builds(ast.OrderItem, expressions, st.booleans())),
    maybe(values),
    maybe(values),
)

fields = st.builds(
    ast.SetFields, st.lists(data, max_size=2).map(lambda items: ast.Object(tuple(map(ast.Member, "xy", items))))
)
set_attributes = st.builds(ast.SetAttributes, objects(data))
set_facet = st.builds(ast.SetFacet, symbols, objects(data))
entries = st.builds(ast.StructuralEntry, symbols, data, maybe(objects(data)))
set_structural = st.builds(ast.SetStructural, several(entries))
unset_names = st.lists(keys, max_size=3, unique=True).map(tuple)
unset_attributes = st.builds(ast.UnsetAttributes, unset_names)
unset_facet = st.builds(ast.UnsetFacet, symbols, unset_names)
unset_structural = st.builds(ast.UnsetStructural, several(st.builds(ast.StructuralEntry, symbols, data)))
sets = fields | set_attributes | set_facet | set_structural
actions = sets | unset_attributes | unset_facet | unset_structural
record_actions = fields | set_facet | set_structural


def once(items):
    """Each clause once, but for SET and UNSET FACET."""
    return several(items).map(
        lambda found: tuple(
            item
            for at, item in enumerate(found)
            if isinstance(item, ast.SetFacet | ast.UnsetFacet) or type(item) not in map(type, found[:at])
        )
    )


planes = st.sampled_from([None, "attributes", "structural", "retention"]).map(lambda plane: (plane, None)) | texts.map(
    lambda facet: ("facet", facet)
)
guards = st.lists(planes, max_size=2, unique=True).flatmap(
    lambda found: st.tuples(*[st.builds(ast.ExpectVersion, values, st.just(a), st.just(b)) for a, b in found])
)
matches = st.builds(
    lambda key, rest: ast.Object((ast.Member("key", key), *rest)),
    flat_terms,
    st.sampled_from([(), (ast.Member("type", ast.Literal("T")),)]),
)
claims = st.builds(lambda by, mode: ast.Object((ast.Member("by", by), ast.Member("mode", mode))), data, literals)
wider = {"where": maybe(raw_wheres), "limit": maybe(values), "guards": guards}

mutations = st.one_of(
    st.builds(ast.CreateConcept, variables, symbols, maybe(values), maybe(values), once(sets)),
    st.builds(
        ast.CreateRecord,
        st.sampled_from(["Evidence", "Assertion", "Activity"]),
        variables,
        maybe(values),
        once(record_actions),
    ),
    st.builds(ast.UpsertConcept, variables, matches, once(actions), guards),
    st.builds(ast.EnsureProposition, maybe(variables), exact_tuples, guards),
    st.builds(ast.Assert, maybe(variables), exact_tuples, claims, maybe(targets)),
    st.builds(ast.Update, targets, several(actions, 1), **wider),
    st.builds(ast.Transition, targets, parameters, maybe(targets), once(fields | set_structural), **wider),
    st.builds(ast.SetRetention, targets, objects(data), **wider),
    st.builds(ast.Purge, targets, st.just(False), reference_policy=maybe(values), **wider),
    st.builds(ast.Purge, targets, st.just(True), **wider),
    st.builds(ast.MergeConcept, targets, targets, maybe(raw_wheres), guards),
)


def _handles(statements):
    """A MUTATE declares a handle once."""
    seen, kept = set(), []
    for statement in statements:
        handle = getattr(statement, "handle", None)
        if handle is None or handle.name not in seen:
            kept.append(statement)
            seen.add(handle and handle.name)
    return ast.Mutate(tuple(kept))


kml = (
    mutations
    | several(mutations).map(_handles)
    | st.builds(ast.Define, st.sampled_from(["PredicateType", "ConceptType"]), symbols, objects(data))
)

exports = st.builds(
    ast.ExportCapsule,
    targets,
    raw_wheres.map(
        lambda block: ast.Block((ast.ElementPattern(ast.Var("r"), "Concept", ast.Object(())), *block.clauses))
    ),
    maybe(objects(data)),
    maybe(values),
)
meta = st.one_of(
    exports,
    st.builds(
        ast.Search,
        kinds,
        values,
        maybe(values),
        maybe(values),
        maybe(modes),
        maybe(values),
        maybe(values),
        maybe(values),
        maybe(values),
    ),
    st.builds(ast.History, maybe(values), maybe(values), maybe(values), maybe(values), maybe(values)),
    st.builds(ast.Changes, values, st.none(), maybe(values)),
    st.builds(ast.List, st.just("DEPENDENTS"), values, st.none(), maybe(values), maybe(values), maybe(values)),
    st.builds(ast.Validate, st.sampled_from(["KQL", "IMPORT PLAN"]), values, maybe(objects(data))),
)

statements = finds | kml | meta
