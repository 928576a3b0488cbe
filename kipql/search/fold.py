"""Text to words: case and accents folded, scripts without spaces in runs (specification §66.3).

Folding is NFKD and casefold; accents, Arabic harakat and Hebrew points go, and what NFKD took apart for another
reason (Hangul, kana) is put together again. A word is a run of letters and digits, apostrophes inside it dropped
(`don't` is `dont`, `Ada's` is `ada`). A run of a script that writes no spaces stays one word here; `tokens`
makes bigrams of it.
"""

import re
import unicodedata

LONGEST = 64  # characters of a word that count

_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i"}
_ACCENTS = (*range(0x300, 0x370), *range(0x1AB0, 0x1B00), *range(0x1DC0, 0x1E00))
_POINTS = (*range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x5C7)  # Hebrew
_HARAKAT = (0x640, *range(0x64B, 0x660), 0x670)  # Arabic, and the stretching of a line
_GONE = dict.fromkeys(map(chr, (*_ACCENTS, *_POINTS, *_HARAKAT)), "")
_FOLDED = str.maketrans({**_GONE, **_LETTERS, "’": "'", "ʼ": "'", "‘": "'"})

# Han, kana, Hangul, Thai, Lao, Myanmar, Khmer
UNSPACED = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3005\u3040-\u30ff\uac00-\ud7af"
UNSPACED += "\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3"
# Indic vowel signs are not letters to `re`, but belong to their word
_SPACED = rf"(?:(?![{UNSPACED}_])[\w\u0900-\u0963\u0966-\u0dff])"
WORD = re.compile(rf"[{UNSPACED}]+|{_SPACED}+(?:'{_SPACED}+)*")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
ASCII_WORD = re.compile(r"[0-9a-z]+(?:'[0-9a-z]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def fold(text: str) -> str:
    """The text without case, accents and compatibility forms.

    >>> fold("ÉCOLE ﬁne Łódź")
    'ecole fine lodz'
    """
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", apart.translate(_FOLDED))


def words(text: str) -> list[str]:
    """The words of a text in order, folded.

    >>> words("Ada's cat doesn't like 王小明!")
    ['ada', 'cat', 'doesnt', 'like', '王小明']
    """
    folded = fold(text)
    found: list[str] = (ASCII_WORD if folded.isascii() else WORD).findall(folded)
    return [plain(word) for word in found]


def plain(word: str) -> str:
    """A word without apostrophes and possessive, cut where it is too long to be one."""
    if "'" in word:
        word = word.removesuffix("'s").replace("'", "")
    return word[:LONGEST]


def is_unspaced(word: str) -> bool:
    """Whether a word is a run of a script without spaces."""
    return not word.isascii() and _IS_UNSPACED.match(word) is not None


def grams(word: str) -> list[str]:
    """The bigrams of a run, itself when it is one character.

    >>> grams("王小明")
    ['王小', '小明']
    """
    return [word[at : at + 2] for at in range(len(word) - 1)] or [word]


def phrase(text: str) -> str:
    """The words of a name or key with single spaces: what exact and prefix matches compare."""
    return " ".join(words(text))


def spelled(symbol: str) -> str:
    """The local name of a Schema symbol as words: `lives_in`, `ExperienceStep`.

    >>> spelled("kip://a@1.0.0/ExperienceStep")
    'Experience Step'
    """
    return _HUMP.sub(" ", symbol.rpartition("/")[2]).replace("_", " ")
