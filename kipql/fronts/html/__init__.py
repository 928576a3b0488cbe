"""A memory as one HTML page that needs nothing else: graph, slots over time, both axes of time."""
