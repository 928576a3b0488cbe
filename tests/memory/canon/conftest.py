"""A Canon in memory whose day does not change."""

from datetime import UTC, datetime

import pytest

import kipql
from kipql.memory import Canon

DAY = datetime(2026, 8, 11, 9, 30, tzinfo=UTC)


@pytest.fixture
def nexus():
    with kipql.open(clock=lambda: DAY) as opened:
        yield opened


@pytest.fixture
def canon(nexus):
    return Canon(nexus)


@pytest.fixture
def feed(canon):
    """The two articles of C02."""
    canon.write("src/feed", capsule="The feed client", body="What holds for the whole feed.")
    canon.write("src/feed/sync", capsule="API caps pages at 50", body="Pages hold 50 items.")
    return canon
