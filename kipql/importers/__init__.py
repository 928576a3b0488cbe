"""Importers: other people's formats, written into a memory through the public API only."""
