"""The grammar of KIP 2.0 as Lark files; `kipql.lang.grammar` says how they belong together."""
