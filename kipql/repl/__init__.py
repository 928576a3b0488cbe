"""The shell: `kipql [DB]` (docs/shell.md).

A command is one small function in a registry (`registry`, `commands/`); statements go through `statements`; what is
shown goes through `console`. Only `prompting` knows prompt_toolkit, and only a shell on a terminal loads it.
"""
