"""Canonical text: from syntax tree to documents (`docs*`), from documents to lines (`printer`)."""
