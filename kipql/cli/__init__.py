"""The command line. Exit codes: 0 done or clean, 1 findings, 2 could not run."""
