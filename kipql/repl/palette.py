"""The classes of pieces of a text, and how each looks on a terminal."""

CLASSES = {
    "keyword": "bold ansiblue",
    "variable": "ansicyan",
    "parameter": "ansimagenta",
    "string": "ansigreen",
    "number": "ansiyellow",
    "comment": "ansibrightblack",
    "directive": "ansibrightblack bold",
    "command": "bold",
    "wrong": "underline ansired",
}
