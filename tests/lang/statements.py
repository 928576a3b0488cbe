"""One case for each form of statement, pattern and expression: a text and the tree that the syntax says it is."""

from kipql.lang import ast

X, Y, P, A, B = (ast.Var(name) for name in "xypab")
NULL = ast.Literal(None)


def s(value):
    """A literal."""
    return ast.Literal(value)


def p(name):
    """A parameter."""
    return ast.Param(name)


def obj(**members):
    """An object."""
    return ast.Object(tuple(ast.Member(name, value) for name, value in members.items()))


def path(var, *steps):
    return ast.Path(ast.Var(var), steps)


def block(*clauses):
    return ast.Block(clauses)


def concept(var=X, keyword=False, **members):
    return ast.ElementPattern(var, "Concept", obj(**members), keyword)


ANY = block(concept())


def where(clause):
    """A query with one more clause than the least."""
    return ast.Find((X,), block(concept(), clause))


def filtered(condition):
    return where(ast.Filter(condition))


def clause_cases(cases):
    return [(f"FIND(?x) WHERE {{ ?x {{}} {text} }}", where(node)) for text, node in cases]


def filter_cases(cases):
    return [(f"FIND(?x) WHERE {{ ?x {{}} FILTER({text}) }}", filtered(node)) for text, node in cases]


ONE, TWO = path("x", "a"), path("x", "b")
TRIPLE = ast.Tuple(X, s("p"), Y)

EXPRESSIONS = filter_cases(
    [
        ("?x", X),
        (":x", p("x")),
        ('"a\\u00e9\\n\\"\\ud83d\\ude00"', s('a\u00e9\n"\U0001f600')),
        ('"e\u0301"', s("\u00e9")),
        ("true", s(True)),
        ("false", s(False)),
        ("null", NULL),
        ("0", s(0)),
        ("-0", s(0)),
        ("-0.0", s(0)),
        ("1e0", s(1)),
        ("1.50", s(1.5)),
        ("-12.5e-1", s(-1.25)),
        ("9007199254740991", s(9007199254740991)),
        ("-9007199254740991.0", s(-9007199254740991)),
        ("0e99999", s(0)),
        ("5e-324", s(5e-324)),
        ("- 5", s(-5)),
        ("-(5)", s(-5)),
        ("[]", ast.Array(())),
        ("[1, ?x, [:a]]", ast.Array((s(1), X, ast.Array((p("a"),))))),
        ("{}", obj()),
        ('{a: 1, "b c": {find: ?x.a}}', ast.Object((ast.Member("a", s(1)), ast.Member("b c", obj(find=ONE))))),
        ("{a:?x, b::p}", obj(a=X, b=p("p"))),
        ("{a:true}", obj(a=s(True))),
        ("{true: false, null: null}", obj(true=s(False), null=NULL)),
        ("?x.a", ONE),
        ('?x["a"]', ONE),
        ('?x.a["b.c"].where', path("x", "a", "b.c", "where")),
        ("f()", ast.Call("f", ())),
        ("IN(?x.a, [1, 2])", ast.Call("IN", (ONE, ast.Array((s(1), s(2)))))),
        ("not(?x)", ast.Call("not", (X,))),
        ("!?x", ast.Negate(X)),
        ("!(!?x)", ast.Negate(ast.Negate(X))),
        ("-?x.a", ast.Minus(ONE)),
        ("?x.a == 1", ast.Compare("==", ONE, s(1))),
        ("?x.a != -1", ast.Compare("!=", ONE, s(-1))),
        ("?x.a < ?x.b == true", ast.Compare("==", ast.Compare("<", ONE, TWO), s(True))),
        ("true == ?x.a >= ?x.b", ast.Compare("==", s(True), ast.Compare(">=", ONE, TWO))),
        ("1 == 2 != 3", ast.Compare("!=", ast.Compare("==", s(1), s(2)), s(3))),
        ("(1 < 2) <= (3 > 4)", ast.Compare("<=", ast.Compare("<", s(1), s(2)), ast.Compare(">", s(3), s(4)))),
        ("?x && ?y && ?p", ast.And((X, Y, P))),
        ("?x && (?y && ?p)", ast.And((X, Y, P))),
        ("?x || ?y && ?p", ast.Or((X, ast.And((Y, P))))),
        ("(?x || ?y) && ?p", ast.And((ast.Or((X, Y)), P))),
        ("!?x && ?y", ast.And((ast.Negate(X), Y))),
        ("((?x))", X),
    ]
)

PATTERNS = clause_cases(
    [
        ('?y {type: "Person"}', concept(Y, type=s("Person"))),
        ("?y CONCEPT {}", concept(Y, keyword=True)),
        (
            '?y {a: {b: [?x, "c"]}, d: (?x, "p", ?y), e: (id: :e)}',
            concept(
                Y,
                a=obj(b=ast.Array((X, s("c")))),
                d=TRIPLE,
                e=ast.PropositionId(p("e")),
            ),
        ),
        ("?a ASSERTION {proposition: ?p}", ast.ElementPattern(A, "Assertion", obj(proposition=P))),
        ("?a evidence {}", ast.ElementPattern(A, "Evidence", obj())),
        ("?a Activity {}", ast.ElementPattern(A, "Activity", obj())),
        ('(?x, "p", ?y)', ast.PropositionPattern(None, TRIPLE)),
        ('PROPOSITION (?x, "p", ?y)', ast.PropositionPattern(None, TRIPLE, True)),
        ('?p (?x, "p", ?y)', ast.PropositionPattern(P, TRIPLE)),
        ('?p PROPOSITION (?x, "p", ?y)', ast.PropositionPattern(P, TRIPLE, True)),
        ("?p (id: :p)", ast.PropositionPattern(P, ast.PropositionId(p("p")))),
        ("(?x, ?p, 5)", ast.PropositionPattern(None, ast.Tuple(X, P, s(5)))),
        (
            '({key: "k"}, :p, (?x, "p", ?y))',
            ast.PropositionPattern(None, ast.Tuple(obj(key=s("k")), p("p"), TRIPLE)),
        ),
        (
            '(?x, "p"{2}, ?y)',
            ast.PropositionPattern(
                None, ast.Tuple(X, ast.PredicatePath((ast.PathStep(s("p"), ast.Quantifier(2, 2)),)), Y)
            ),
        ),
        (
            '(?x, "p"{0,} | :q{1,007} | "r", ?y)',
            ast.PropositionPattern(
                None,
                ast.Tuple(
                    X,
                    ast.PredicatePath(
                        (
                            ast.PathStep(s("p"), ast.Quantifier(0, None)),
                            ast.PathStep(p("q"), ast.Quantifier(1, 7)),
                            ast.PathStep(s("r")),
                        )
                    ),
                    Y,
                ),
            ),
        ),
        ('STRUCTURAL (?x, "has_step", ?y)', ast.StructuralPattern(None, X, s("has_step"), Y)),
        ("?p STRUCTURAL (?x, :f, {})", ast.StructuralPattern(P, X, p("f"), obj())),
        ("?b BELIEF (?p)", ast.BeliefPattern(B, P)),
        ('?b BELIEF (id: "P-1")', ast.BeliefPattern(B, ast.PropositionId(s("P-1")))),
        ('?b BELIEF (?x, "p", ?y)', ast.BeliefPattern(B, TRIPLE)),
        ('?b BELIEF SLOT (?x, "p")', ast.BeliefSlotPattern(B, X, s("p"))),
        ("?b belief slot (:x, ?p)", ast.BeliefSlotPattern(B, p("x"), P)),
        (
            "?y SEARCH CONCEPT :q LIMIT 5",
            ast.SearchPattern(Y, "Concept", p("q"), None, None, None, None, s(5)),
        ),
        (
            '?y SEARCH ASSERTION "q" WITH TYPE "T" WITH PREDICATE "p" MODE "hybrid" THRESHOLD 0.5 LIMIT :k',
            ast.SearchPattern(Y, "Assertion", s("q"), s("T"), s("p"), s("hybrid"), s(0.5), p("k")),
        ),
        (
            '?y SEARCH PROPOSITION "q" WITH PREDICATE "p" LIMIT 1',
            ast.SearchPattern(Y, "Proposition", s("q"), None, s("p"), None, None, s(1)),
        ),
        ("NOT { ?y {} }", ast.Not(block(concept(Y)))),
        ("OPTIONAL { ?y {} }", ast.Optional(block(concept(Y)))),
        ("UNION { ?y {} NOT {} }", ast.Union(block(concept(Y), ast.Not(block())))),
    ]
)

KQL = [
    ("FIND(?x) WHERE {}", ast.Find((X,), block())),
    (
        "FIND(?x.a, COUNT(?x), COUNT(DISTINCT ?x), ?x.a == 1) WHERE { ?x {} }",
        ast.Find(
            (ONE, ast.Call("COUNT", (X,)), ast.Call("COUNT", (X,), True), ast.Compare("==", ONE, s(1))),
            ANY,
        ),
    ),
    (
        'FIND(?x) WHERE { ?x {} } AS OF SEQ 3 FOR TIME :t WITH EPISTEMIC {policy: "p"} '
        "ORDER BY ?x.a, COUNT(?x) DESC, ?x.b ASC LIMIT :n CURSOR :c",
        ast.Find(
            (X,),
            ANY,
            s(3),
            p("t"),
            obj(policy=s("p")),
            (
                ast.OrderItem(ONE, False),
                ast.OrderItem(ast.Call("COUNT", (X,)), True),
                ast.OrderItem(TWO, False),
            ),
            p("n"),
            p("c"),
        ),
    ),
    ("FIND(?x) WHERE { ?x {} } LIMIT 0", ast.Find((X,), ANY, limit=s(0))),
    ("find(?x)where{?x{}}limit 5;", ast.Find((X,), ANY, limit=s(5))),
]

GUARD = ast.ExpectVersion(p("v"))
FIELDS = ast.SetFields(obj(name=s("n")))

KML = [
    (
        'CREATE CONCEPT ?x { TYPE "T" CLIENT KEY :k NAME "n" SET FIELDS {key: "k"} SET ATTRIBUTES {a: 1} '
        'SET FACET "F" {b: [1]} SET FACET :g {} SET STRUCTURAL { ("s", ?y) {index: 0} (:t, "C-1") } }',
        ast.CreateConcept(
            X,
            s("T"),
            p("k"),
            s("n"),
            (
                ast.SetFields(obj(key=s("k"))),
                ast.SetAttributes(obj(a=s(1))),
                ast.SetFacet(s("F"), obj(b=ast.Array((s(1),)))),
                ast.SetFacet(p("g"), obj()),
                ast.SetStructural(
                    (ast.StructuralEntry(s("s"), Y, obj(index=s(0))), ast.StructuralEntry(p("t"), s("C-1")))
                ),
            ),
        ),
    ),
    (
        'CREATE EVIDENCE ?x { SET FIELDS {evidence_class: "m", payload: {a: null}} CLIENT KEY "k" }',
        ast.CreateRecord("Evidence", X, s("k"), (ast.SetFields(obj(evidence_class=s("m"), payload=obj(a=NULL))),)),
    ),
    (
        "CREATE ASSERTION ?x { SET FIELDS {proposition: ?p, confidence: 0.5} }",
        ast.CreateRecord("Assertion", X, None, (ast.SetFields(obj(proposition=P, confidence=s(0.5))),)),
    ),
    ("CREATE ACTIVITY ?x {}", ast.CreateRecord("Activity", X, None, ())),
    (
        'UPSERT CONCEPT ?x { MATCH {type: "T", key: :k} SET FIELDS {name: "n"} UNSET ATTRIBUTES {a, "b c"} '
        'UNSET FACET "F" {c} UNSET STRUCTURAL { ("s", ?y) } } EXPECT VERSION :v',
        ast.UpsertConcept(
            X,
            obj(type=s("T"), key=p("k")),
            (
                FIELDS,
                ast.UnsetAttributes(("a", "b c")),
                ast.UnsetFacet(s("F"), ("c",)),
                ast.UnsetStructural((ast.StructuralEntry(s("s"), Y),)),
            ),
            (GUARD,),
        ),
    ),
    ('ENSURE PROPOSITION (?x, "p", ?y)', ast.EnsureProposition(None, TRIPLE)),
    (
        'ENSURE PROPOSITION ?p (:x, "p", 5) EXPECT VERSION 0',
        ast.EnsureProposition(P, ast.Tuple(p("x"), s("p"), s(5)), (ast.ExpectVersion(s(0)),)),
    ),
    (
        'ASSERT (?x, "p", ?y) {by: :x, mode: "stated"}',
        ast.Assert(None, TRIPLE, obj(by=p("x"), mode=s("stated"))),
    ),
    (
        'ASSERT ?a (?x, "p", ?y) {by: :x, mode: "stated", stance: "reject", confidence: 1, at: :t, '
        'valid: {from: {latest: :t}}, context: [:c], evidence: [?b], key: "k"} SUPERSEDING :old',
        ast.Assert(
            A,
            TRIPLE,
            obj(
                by=p("x"),
                mode=s("stated"),
                stance=s("reject"),
                confidence=s(1),
                at=p("t"),
                valid=ast.Object((ast.Member("from", obj(latest=p("t"))),)),
                context=ast.Array((p("c"),)),
                evidence=ast.Array((B,)),
                key=s("k"),
            ),
            p("old"),
        ),
    ),
    (
        'UPDATE "C-1" SET ATTRIBUTES {a: ADD(?x.a, 1)}',
        ast.Update(s("C-1"), (ast.SetAttributes(obj(a=ast.Call("ADD", (ONE, s(1))))),)),
    ),
    (
        'UPDATE ?x SET FIELDS {name: "n"} UNSET ATTRIBUTES {} SET FIELDS {name: "n"} WHERE { ?x {} } LIMIT 5 '
        "EXPECT VERSION :v EXPECT VERSION 1 OF ATTRIBUTES EXPECT VERSION 2 OF STRUCTURAL "
        'EXPECT VERSION 3 OF RETENTION EXPECT VERSION 4 OF FACET "F" EXPECT VERSION 5 OF FACET "G"',
        ast.Update(
            X,
            (FIELDS, ast.UnsetAttributes(()), FIELDS),
            ANY,
            s(5),
            (
                GUARD,
                ast.ExpectVersion(s(1), "attributes"),
                ast.ExpectVersion(s(2), "structural"),
                ast.ExpectVersion(s(3), "retention"),
                ast.ExpectVersion(s(4), "facet", s("F")),
                ast.ExpectVersion(s(5), "facet", s("G")),
            ),
        ),
    ),
    ('TRANSITION :a TO "retracted"', ast.Transition(p("a"), s("retracted"))),
    ('TRANSITION :a TO "superseded" BY ?b', ast.Transition(p("a"), s("superseded"), B)),
    (
        'TRANSITION ?x TO "completed" SET FIELDS {ended_at: :t} SET STRUCTURAL { ("outputs", ?y) } '
        "WHERE { ?x {} } LIMIT 1 EXPECT VERSION :v",
        ast.Transition(
            X,
            s("completed"),
            None,
            (
                ast.SetFields(obj(ended_at=p("t"))),
                ast.SetStructural((ast.StructuralEntry(s("outputs"), Y),)),
            ),
            ANY,
            s(1),
            (GUARD,),
        ),
    ),
    ("TRANSITION ?x TO :state BY :y SET FIELDS {}", ast.Transition(X, p("state"), p("y"), (ast.SetFields(obj()),))),
    (
        'SET RETENTION ?x {retention_class: "r", legal_hold: true} WHERE { ?x {} } LIMIT 3 EXPECT VERSION :v',
        ast.SetRetention(X, obj(retention_class=s("r"), legal_hold=s(True)), ANY, s(3), (GUARD,)),
    ),
    ("SET // the words may be apart\n RETENTION :x {}", ast.SetRetention(p("x"), obj())),
    ('PURGE "C-1" CONFIRM "PURGE"', ast.Purge(s("C-1"))),
    (
        'PURGE ?x WHERE { ?x {} } LIMIT 2 EXPECT VERSION :v REFERENCE POLICY "deny_if_referenced" CONFIRM "PURGE"',
        ast.Purge(X, False, ANY, s(2), (GUARD,), s("deny_if_referenced")),
    ),
    (
        'PURGE PAYLOAD ?x WHERE { ?x {} } LIMIT 2 EXPECT VERSION :v CONFIRM "PURGE"',
        ast.Purge(X, True, ANY, s(2), (GUARD,)),
    ),
    (
        "MERGE CONCEPT ?x INTO :y WHERE { ?x {} } EXPECT VERSION :v",
        ast.MergeConcept(X, p("y"), ANY, (GUARD,)),
    ),
    (
        'DEFINE PREDICATE "p" {description: "d", functional: true}',
        ast.Define("PredicateType", s("p"), obj(description=s("d"), functional=s(True))),
    ),
    ("DEFINE CONCEPT TYPE :t {}", ast.Define("ConceptType", p("t"), obj())),
    ("MUTATE {}", ast.Mutate(())),
    (
        'MUTATE { ENSURE PROPOSITION ?p (?x, "p", ?y) UPDATE ?x SET FIELDS {name: "n"} SET RETENTION ?x {} '
        'CREATE ACTIVITY ?a {} PURGE ?x CONFIRM "PURGE" }',
        ast.Mutate(
            (
                ast.EnsureProposition(P, TRIPLE),
                ast.Update(X, (FIELDS,)),
                ast.SetRetention(X, obj()),
                ast.CreateRecord("Activity", A, None, ()),
                ast.Purge(X),
            )
        ),
    ),
]

META = [
    ("DESCRIBE PRIMER", ast.Describe("PRIMER")),
    ('DESCRIBE PRIMER MODE "full"', ast.Describe("PRIMER", mode=s("full"))),
    ("DESCRIBE PROTOCOL", ast.Describe("PROTOCOL")),
    ("DESCRIBE CAPABILITIES", ast.Describe("CAPABILITIES")),
    ("DESCRIBE SPACE", ast.Describe("SPACE")),
    ('DESCRIBE SPACE "s"', ast.Describe("SPACE", s("s"))),
    ("DESCRIBE SCHEMA ENVIRONMENT", ast.Describe("SCHEMA ENVIRONMENT")),
    ("DESCRIBE SCHEMA ENVIRONMENT AS OF SEQ 3", ast.Describe("SCHEMA ENVIRONMENT", as_of=s(3))),
    ('DESCRIBE PACKAGE "p"', ast.Describe("PACKAGE", s("p"))),
    ("DESCRIBE TYPE :t", ast.Describe("TYPE", p("t"))),
    ("DESCRIBE PREDICATE :t", ast.Describe("PREDICATE", p("t"))),
    ("DESCRIBE FACET :t", ast.Describe("FACET", p("t"))),
    ("DESCRIBE STRUCTURAL FIELD :t", ast.Describe("STRUCTURAL FIELD", p("t"))),
    ("DESCRIBE COMPATIBILITY FROM :a TO :b", ast.Describe("COMPATIBILITY", p("a"), p("b"))),
    ("DESCRIBE ERROR :e", ast.Describe("ERROR", p("e"))),
    ("DESCRIBE TRANSACTION :t", ast.Describe("TRANSACTION", p("t"))),
    ("DESCRIBE TRANSACTION BY IDEMPOTENCY KEY :k", ast.Describe("TRANSACTION", p("k"), by_key=True)),
    ("DESCRIBE SNAPSHOT", ast.Describe("SNAPSHOT")),
    ("DESCRIBE SNAPSHOT AS OF SEQ :s", ast.Describe("SNAPSHOT", as_of=p("s"))),
    ("DESCRIBE SNAPSHOT AT TIME :t", ast.Describe("SNAPSHOT", at_time=p("t"))),
    ("DESCRIBE CAPSULE :c", ast.Describe("CAPSULE", p("c"))),
    ("DESCRIBE EPISTEMIC POLICY", ast.Describe("EPISTEMIC POLICY")),
    ("DESCRIBE EPISTEMIC POLICY :p", ast.Describe("EPISTEMIC POLICY", p("p"))),
    ("DESCRIBE TRUST", ast.Describe("TRUST")),
    ("DESCRIBE TRUST :t", ast.Describe("TRUST", p("t"))),
    ("DESCRIBE ACCESS", ast.Describe("ACCESS")),
    ('DESCRIBE ACCESS WITH {operation: "read"}', ast.Describe("ACCESS", options=obj(operation=s("read")))),
    ("LIST SPACES", ast.List("SPACES")),
    ("LIST TYPES LIMIT 5 CURSOR :c", ast.List("TYPES", limit=s(5), cursor=p("c"))),
    ("LIST PREDICATES CURSOR :c", ast.List("PREDICATES", cursor=p("c"))),
    ("LIST FACETS", ast.List("FACETS")),
    ("LIST STRUCTURAL FIELDS LIMIT 5", ast.List("STRUCTURAL FIELDS", limit=s(5))),
    ("LIST EPISTEMIC POLICIES", ast.List("EPISTEMIC POLICIES")),
    (
        'LIST SCHEMA PACKAGES STATUS "active" LIMIT 5',
        ast.List("SCHEMA PACKAGES", status=s("active"), limit=s(5)),
    ),
    ("LIST DEPENDENTS :id", ast.List("DEPENDENTS", p("id"))),
    (
        'LIST DEPENDENTS "C-1" DEPTH 2 LIMIT 5 CURSOR :c',
        ast.List("DEPENDENTS", s("C-1"), depth=s(2), limit=s(5), cursor=p("c")),
    ),
    ("SEARCH CONCEPT :q", ast.Search("Concept", p("q"))),
    (
        'SEARCH PROPOSITION "q" WITH TYPE :t WITH PREDICATE "p" MODE :m THRESHOLD 0.5 AS OF SEQ 3 LIMIT 5 CURSOR :c',
        ast.Search("Proposition", s("q"), p("t"), s("p"), p("m"), s(0.5), s(3), s(5), p("c")),
    ),
    ("VERIFY CAPSULE :c", ast.Verify("CAPSULE", p("c"))),
    ("VERIFY SCHEMA PACKAGE :c", ast.Verify("SCHEMA PACKAGE", p("c"))),
    ("VERIFY RECEIPT :c", ast.Verify("RECEIPT", p("c"))),
    ("VALIDATE KQL :c", ast.Validate("KQL", p("c"))),
    ("VALIDATE KML :c WITH {strict: true}", ast.Validate("KML", p("c"), obj(strict=s(True)))),
    ("VALIDATE CAPSULE :c", ast.Validate("CAPSULE", p("c"))),
    ("VALIDATE schema package :c", ast.Validate("SCHEMA PACKAGE", p("c"))),
    ("VALIDATE IMPORT PLAN :c", ast.Validate("IMPORT PLAN", p("c"))),
    ("PREVIEW KML :c", ast.Preview("KML", p("c"))),
    ("PREVIEW IMPORT CAPSULE :c INTO :s", ast.Preview("IMPORT CAPSULE", p("c"), p("s"))),
    (
        "HISTORY ELEMENT :id FROM SEQ 1 TO SEQ 2 LIMIT 5 CURSOR :c",
        ast.History(p("id"), s(1), s(2), s(5), p("c")),
    ),
    ("HISTORY SPACE", ast.History(None)),
    ("HISTORY SPACE TO SEQ 2", ast.History(None, to_seq=s(2))),
    ("CHANGES SINCE :c LIMIT 5", ast.Changes(p("c"), None, s(5))),
    ("CHANGES AFTER SEQ 0", ast.Changes(None, s(0))),
    ("EXPORT CAPSULE ?x WHERE { ?x {} }", ast.ExportCapsule(X, ANY)),
    (
        'EXPORT CAPSULE :root WHERE { ?x {} } WITH {closure: "referential"} AS OF SEQ 3',
        ast.ExportCapsule(p("root"), ANY, obj(closure=s("referential")), s(3)),
    ),
]

CASES = [*EXPRESSIONS, *PATTERNS, *KQL, *KML, *META]
