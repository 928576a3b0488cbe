"""The three sides of the search benchmark: kipql, bm25s and SQLite FTS5, each with what it offers for English.

bm25s gets its English stop words and the Snowball stemmer in one variant and its defaults in another; FTS5 its
`porter` tokenizer and its default one. A query is an OR of its words everywhere.
"""

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import kipql

Ask = Callable[[str, int], list[int]]  # query and k -> positions of messages, best first

SEARCH = "SEARCH EVIDENCE :query LIMIT :k"


def kipql_side(messages: Sequence[Any]) -> Ask:
    """Evidence in a memory of its own; the position is the id's number."""
    nexus = kipql.open()
    fields = [{"evidence_class": "message", "payload": message} for message in messages]
    nexus.load({"kind": "evidence", "fields": one} for one in fields)

    def ask(query: str, k: int) -> list[int]:
        return [int(hit["id"][2:]) - 1 for hit in nexus.query(SEARCH, {"query": query, "k": k}).rows]

    return ask


def bm25s_side(texts: Sequence[str], *, english: bool) -> Ask:
    """bm25s as its documentation shows it."""
    import bm25s
    import Stemmer

    how = {"stopwords": "en" if english else None, "stemmer": Stemmer.Stemmer("english") if english else None}
    ranker = bm25s.BM25()
    ranker.index(bm25s.tokenize(list(texts), show_progress=False, **how), show_progress=False)

    def ask(query: str, k: int) -> list[int]:
        tokens = bm25s.tokenize([query], return_ids=False, show_progress=False, **how)
        if not tokens[0]:
            return []
        found, scores = ranker.retrieve(tokens, k=min(k, len(texts)), show_progress=False)
        return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    return ask


def fts5_side(texts: Sequence[str], *, english: bool) -> Ask:
    """FTS5 with its bm25 rank."""
    tokenizer = "porter unicode61" if english else "unicode61"
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE message USING fts5(text, tokenize = '{tokenizer}')")
    database.executemany("INSERT INTO message(rowid, text) VALUES (?, ?)", enumerate(texts))
    select = "SELECT rowid FROM message WHERE message MATCH ? ORDER BY rank, rowid LIMIT ?"

    def ask(query: str, k: int) -> list[int]:
        words = re.findall(r"\w+", query)
        return [row for (row,) in database.execute(select, (" OR ".join(f'"{word}"' for word in words), k))]

    return ask
