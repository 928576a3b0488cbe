"""README names every extra that a user can install, and no other."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = {"bench", "dev", "fuzz"}  # for who builds kipql


def test_readme_names_the_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    paragraph = next(part for part in (ROOT / "README.md").read_text("utf-8").split("\n\n") if "needs an extra" in part)
    named = set(re.findall(r"`([a-z-]+)`", paragraph))
    assert named == set(project["optional-dependencies"]) - OURS
