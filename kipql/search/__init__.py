"""SEARCH: keyword postings and ranking over what a caller may see, and optional vectors (specification §66).

`ask` says what a search is and is light; `run` does it and loads numpy, so import it where it is used.
"""
