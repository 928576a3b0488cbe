"""The commands, a file per subject."""
