"""What a part of the claims is remembered to hold is what it holds (`kipql.exec.operators.zones`)."""

import random

import pytest

np = pytest.importorskip("numpy")

from kipql.exec.operators.columns import _FIELDS  # noqa: E402
from kipql.exec.operators.zones import FLAGS, VALUES, Zones  # noqa: E402

SIZE = 5


@pytest.mark.parametrize("seed", range(5))
def test_zones_say_what_their_parts_hold_however_they_were_made(seed: int) -> None:
    draw, count = random.Random(seed), 43
    records = np.zeros(count, np.dtype(_FIELDS))
    for name, most in (("flags", 4_096), ("from", 1_000), ("until", 1_000), ("predicate", 3)):
        records[name] = [draw.randrange(most) for _ in range(count)]
    beside = {name: np.array([draw.random() for _ in range(count)]) for name in ("asserted_at", "confidence")}
    zones = Zones(np)
    for length in [*sorted(draw.randrange(count + 1) for _ in range(4)), count, 12]:
        found = zones.upto(records[:length], beside, SIZE)
        assert found.made == length // SIZE
        for number in range(found.made):
            part = slice(number * SIZE, (number + 1) * SIZE)
            for name in VALUES:
                values = beside[name][part] if name in beside else records[name][part]
                assert (found.least[name][number], found.most[name][number]) == (values.min(), values.max())
            kinds: dict[int, int] = {}
            for record in records[part]:
                kind = int(record["predicate"]) * FLAGS + int(record["flags"]) % FLAGS
                kinds[kind] = kinds.get(kind, 0) + 1
            here = found.zone == number
            assert dict(zip(found.kind[here].tolist(), found.count[here].tolist(), strict=True)) == kinds
        assert set(found.zone.tolist()) == set(range(found.made))
