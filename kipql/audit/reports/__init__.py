"""Reports: a Report as text, JSON, JUnit, SARIF, GitHub annotations and a Markdown summary, a file each.

Each is a pure function of the Report and of the severity that fails a run; each escapes for its own sink
(`kipql.escape`), since what a memory holds is data to all of them.
"""
