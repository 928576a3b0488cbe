"""A language server for `.kql` files (`kipql lsp`), over `kipql.editing`; pygls is imported by it alone."""
