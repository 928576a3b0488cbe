"""Text to tokens: folding, words, stems, bigrams, function words."""

import pytest

from kipql.search.analysis import FUNCTION_WEIGHT, Analyzer
from kipql.search.fold import fold, phrase, spelled, words
from kipql.search.stem import stem


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ärger ÉCOLE", "arger ecole"),
        ("E\u0301cole", "ecole"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("ﬁne ½ Ⅳ ℌ", "fine 1⁄2 iv h"),
        ("Łódź Ørsted Æsir", "lodz orsted aesir"),
        ("Ёлка й", "елка и"),
        ("한국어", "한국어"),  # NFKD takes syllables apart; they come back whole
        ("が", "が"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("مُحَمَّد", "محمد"),
        ("שָׁלוֹם", "שלום"),
    ],
)
def test_case_accents_and_forms_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(folded) == folded


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada's dog, don't!", ["ada", "dog", "dont"]),
        ("Ada’s dog", ["ada", "dog"]),
        ("snake_case-and.dots/slash", ["snake", "case", "and", "dots", "slash"]),
        ("in 2023, 3.5kg", ["in", "2023", "3", "5kg"]),
        ("我叫王小明。你好", ["我叫王小明", "你好"]),
        ("GPT模型v2", ["gpt", "模型", "v2"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("สวัสดีครับ", ["สวัสดีครับ"]),
        ("... 🙂 --", []),
        ("", []),
        ("x" * 100, ["x" * 64]),
    ],
)
def test_words_of_a_text(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("caresses", "caress"), ("ties", "tie"), ("cries", "cri"), ("gas", "gas"), ("this", "this"), ("kiwis", "kiwi"),
        ("agreed", "agre"), ("hopping", "hop"), ("hoping", "hope"), ("falling", "fall"), ("luxuriated", "luxuri"),
        ("adding", "add"), ("enjoyed", "enjoy"), ("by", "by"), ("say", "say"), ("cry", "cri"), ("happy", "happi"),
        ("relational", "relat"), ("conditional", "condit"), ("digitizer", "digit"), ("analogies", "analog"),
        ("hopefulness", "hope"), ("organization", "organiz"), ("university", "universiti"), ("universal", "universal"),
        ("adjustment", "adjust"), ("adoption", "adopt"), ("controlling", "control"), ("rate", "rate"),
        ("cease", "ceas"),
        ("evening", "evening"), ("skies", "sky"), ("dying", "die"), ("news", "news"), ("proceed", "proceed"),
        ("yes", "yes"), ("youth", "youth"), ("2023", "2023"), ("école", "école"), ("it", "it"),
    ],
)  # fmt: skip
def test_english_stems(written: str, expected: str) -> None:
    assert stem(written) == expected


def test_unspaced_runs_become_bigrams_and_keep_their_characters() -> None:
    counts, length = Analyzer().document(("王小明",))
    assert set(counts) == {"王小", "小明", "王", "小", "明"}
    assert length == 2
    assert Analyzer().query("王小明") == {"王小": 1.0, "小明": 1.0}
    assert Analyzer().query("王") == {"王": 1.0}


def test_function_words_count_little_in_a_query_and_normally_in_a_document() -> None:
    analyzer = Analyzer()
    assert analyzer.query("What did Ada paint?") == {
        "what": FUNCTION_WEIGHT,
        "did": FUNCTION_WEIGHT,
        "ada": 1.0,
        "paint": 1.0,
    }
    assert analyzer.document(("What did Ada paint?",)) == ({"what": 1, "did": 1, "ada": 1, "paint": 1}, 4)


def test_names_are_compared_by_their_words() -> None:
    assert phrase("  Árbol,  ALICE ") == phrase("arbol alice") == "arbol alice"
    assert spelled("kip://p@1.0.0/ExperienceStep") == "Experience Step"
    assert spelled("kip://p@1.0.0/lives_in") == "lives in"
