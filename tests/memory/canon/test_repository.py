"""Markdown folders: front matter as people write it, and files nobody should."""

import os

import pytest

import kipql
from kipql.memory import Canon
from kipql.memory.canon import markdown
from kipql.memory.canon.repository import import_repository

DOCUMENTS = {
    "plain": ("just text\n", {}, "just text\n"),
    "members": ("---\ncapsule: a: b\nscope: rule\n---\n\nbody\n", {"capsule": "a: b", "scope": "rule"}, "body\n"),
    "no end": ("---\ncapsule: c\n\nbody", {}, "---\ncapsule: c\n\nbody"),
    "a rule first": ("----\nbody", {}, "----\nbody"),
    "dots end": ("---\na: 1\n...\nbody", {"a": "1"}, "body"),
    "crlf": ("---\r\na: 1\r\n---\r\nbody\r\n", {"a": "1"}, "body\r\n"),
    "quotes": ("---\na: \"x \\\" y\"\nb: 'it''s'\n---\n", {"a": 'x " y', "b": "it's"}, ""),
    "flow list": ("---\ns: [a, \"b, c\", 'd']\n---\n", {"s": ["a", "b, c", "d"]}, ""),
    "block list": ("---\ns:\n  - a\n  - b, c\n---\n", {"s": ["a", "b, c"]}, ""),
    "empty list": ("---\ns: []\n---\nx", {"s": []}, "x"),
    "nested": ("---\na:\n  b: 1\n  c: 2\n---\n", {"a": "  b: 1\n  c: 2"}, ""),
    "folded": ("---\na: >\n  one\n  two\n---\n", {"a": ">\n  one\n  two"}, ""),
    "no member": ("---\n# comment\n???\n---\nx", {}, "x"),
    "twice": ("---\na: 1\na: 2\n---\n", {"a": "2"}, ""),
    "empty": ("", {}, ""),
    "only a rule": ("---\n", {}, "---\n"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_front_matter(name):
    text, front, body = DOCUMENTS[name]
    parsed = markdown.parse(text)
    assert (dict(parsed.front), parsed.body) == (front, body)


@pytest.fixture
def repository(tmp_path):
    def write(**files):
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_md", ".md").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write


ARTICLE = "---\ncapsule: API caps pages\n  at 50\nupdated: 2026-01-02\nowner: ann\n---\nPages hold 50.\n"
ENTRY = (
    '---\nsubject: ["docs/a, b", src/feed/sync]\nlogged: 2026-08-01T10:00:00+02:00\nsession: s1\n---\nthe cap is 50\n'
)


def test_what_is_imported_is_what_the_files_say(canon, repository):
    root = repository(articles__src__feed__sync_md=ARTICLE, src__feed__sync_py="")
    (root / "journal").mkdir()
    (root / "journal" / "2026-08-01-vendor-cap.md").write_text(ENTRY, "utf-8")
    (root / "journal" / "README.md").write_text("not an entry", "utf-8")
    done = import_repository(canon, root)
    assert (done.created, done.logged, done.left_out) == (1, 1, ["README.md"])
    article = canon.read("src/feed/sync.py")
    assert (article.capsule, article.body, article.updated) == (
        "API caps pages at 50",
        "Pages hold 50.\n",
        "2026-01-02",
    )
    assert article.journal == ["2026-08-01-vendor-cap.md"]
    text = 'FIND(?a.attributes.front.owner) WHERE { ?a {type: "CanonArticle"} }'
    assert canon.nexus.query(text).scalar() == "ann"
    logged = 'FIND(?j.attributes.logged, ?j.attributes.session) WHERE { ?j {type: "Event"} }'
    assert canon.nexus.query(logged).one() == ("2026-08-01T08:00:00.000Z", "s1")
    assert canon.nexus.query('FIND(?x.key) WHERE { ?x {type: "Asset", key: ":docs/a, b"} }').rows


def test_importing_again_changes_nothing(canon, repository):
    root = repository(articles__a_md="body", articles__b_md=ARTICLE, a_py="")
    (root / "journal").mkdir()
    (root / "journal" / "2026-08-01-x.md").write_text(ENTRY, "utf-8")
    import_repository(canon, root)
    digest = canon.nexus.digest()
    done = import_repository(canon, root)
    assert (done.unchanged, done.known, canon.nexus.digest()) == (2, 1, digest)
    assert canon.audit.orphans() == [{"address": "b"}]


def test_a_rewritten_entry_is_refused_and_nothing_is_written(canon, repository):
    root = repository(articles__a_md="body")
    (root / "journal").mkdir()
    (root / "journal" / "2026-08-01-x.md").write_text("said", "utf-8")
    import_repository(canon, root)
    digest = canon.nexus.digest()
    (root / "journal" / "2026-08-01-x.md").write_text("said otherwise", "utf-8")
    (root / "articles" / "a.md").write_text("other", "utf-8")
    with pytest.raises(kipql.KipError) as raised:
        import_repository(canon, root)
    assert (raised.value.code, canon.nexus.digest()) == ("IdentityConflict", digest)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("articles/a.md", b"\xff\xfe", "ArtifactParseError"),
        ("articles/a.md", b"x" * 1_048_577, "ArtifactTooLarge"),
        ("articles/a.md", b"---\nscope: universe\n---\n", "ArtifactParseError"),
        ("articles/a\nb.md", b"x", "InvalidIdentifier"),
        ("articles/src\\b.md", b"x", "ArtifactParseError"),  # the same article as articles/src/b.md
        ("journal/2026-08-01-x.md", b"---\nsubject: a\n---\n\n", "ArtifactParseError"),
        ("journal/2026-08-01-x.md", b'---\nsubject: "a\x1b"\n---\ntext', "ArtifactParseError"),
    ],
)
def test_a_file_that_can_not_be_taken_in_stops_everything(canon, repository, name, content, code):
    root = repository(articles__src__b_md="fine")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_bytes(content)
    with pytest.raises(kipql.KipError) as raised:
        import_repository(canon, root)
    assert raised.value.code == code
    assert len(raised.value.details["problems"]) == 1
    assert canon.nexus.space_seq == 0


def test_links_and_special_files_are_not_read(canon, repository, tmp_path_factory):
    root = repository(articles__a_md="fine")
    secret = tmp_path_factory.mktemp("outside") / "secret.md"
    secret.write_text("secret", "utf-8")
    (root / "articles" / "folder").symlink_to(secret.parent)
    assert import_repository(canon, root).created == 1
    (root / "articles" / "file.md").symlink_to(secret)
    os.mkfifo(root / "articles" / "pipe.md")
    (root / "articles" / "loop.md").symlink_to(root / "articles" / "loop.md")
    with pytest.raises(kipql.KipError) as raised:
        import_repository(Canon(canon.nexus), root)
    assert raised.value.code == "ArtifactUnavailable"
    assert len(raised.value.details["problems"]) == 3


def test_a_folder_that_is_not_there(canon, tmp_path):
    with pytest.raises(kipql.KipError) as raised:
        import_repository(canon, tmp_path / "nowhere")
    assert raised.value.code == "ArtifactUnavailable"
    done = import_repository(canon, tmp_path)
    assert (done.created, done.logged) == (0, 0)


def test_a_dotted_article_keeps_its_dot(canon, repository):
    root = repository()
    (root / "articles").mkdir()
    (root / "articles" / "config.test.md").write_text("x", "utf-8")
    (root / "config.test.ts").touch()
    import_repository(canon, root)
    assert canon.resolve("config.test.ts") == "config.test"
    assert canon.audit.orphans() == []
