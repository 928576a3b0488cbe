"""What stands in front of a memory: protocols, editors and notebooks; thin, over the public surface."""
