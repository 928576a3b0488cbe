"""Dates of a conversation: an instant where the text and the zone say one, else the bound they say."""

import pytest

from kipql.errors import KipError
from kipql.importers.dates import read_when
from kipql.times import format_bound


def read(text, zone="UTC"):
    return format_bound(read_when(text, zone, "date").bound)


@pytest.mark.parametrize(
    ("text", "zone", "instant"),
    [
        ("1:56 pm on 8 May, 2023", "UTC", "2023-05-08T13:56:00.000Z"),
        ("12:09 am on 13 September, 2023", "UTC", "2023-09-13T00:09:00.000Z"),
        ("12:30 pm on 1 jan 2024", "UTC", "2024-01-01T12:30:00.000Z"),
        ("1:56 PM on May 8, 2023", "UTC", "2023-05-08T13:56:00.000Z"),
        ("1:56 pm on 8 May, 2023", "Europe/Vienna", "2023-05-08T11:56:00.000Z"),
        ("1:56 pm on 8 January, 2023", "Europe/Vienna", "2023-01-08T12:56:00.000Z"),
        ("2023-05-08 13:56", "UTC", "2023-05-08T13:56:00.000Z"),
        ("2023-05-08T13:56:00+02:00", "America/New_York", "2023-05-08T11:56:00.000Z"),
        ("2023-05-08T13:56:00Z", "Asia/Tokyo", "2023-05-08T13:56:00.000Z"),
    ],
)
def test_a_time_in_a_zone_is_an_instant(text, zone, instant):
    assert read(text, zone) == instant


@pytest.mark.parametrize("text", ["8 May, 2023", "8 May 2023", "May 8, 2023", "2023-05-08"])
def test_a_day_without_a_time_is_the_bound_of_that_day(text):
    assert read(text) == {"earliest": "2023-05-08T00:00:00.000Z", "latest": "2023-05-08T23:59:59.999Z"}


def test_the_bound_of_a_day_is_in_its_zone():
    assert read("8 May, 2023", "Asia/Tokyo") == {
        "earliest": "2023-05-07T15:00:00.000Z",
        "latest": "2023-05-08T14:59:59.999Z",
    }


def test_a_local_time_that_happened_twice_is_the_bound_of_both():
    # clocks in Vienna went from 03:00 back to 02:00 on 2023-10-29
    assert read("2:30 am on 29 October, 2023", "Europe/Vienna") == {
        "earliest": "2023-10-29T00:30:00.000Z",
        "latest": "2023-10-29T01:30:00.000Z",
    }


def test_the_text_and_the_zone_are_kept():
    when = read_when("8 May, 2023", "Asia/Tokyo", "date")
    assert (when.text, when.zone) == ("8 May, 2023", "Asia/Tokyo")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "31 June, 2023",
        "25:00 on 8 May, 2023",
        "13:00 pm on 8 May, 2023",
        "8 Mai, 2023",
        20230508,
        "0:10 am on 1 May, 2023",
    ],
)
def test_what_is_no_date_is_an_error_that_names_it(text):
    with pytest.raises(KipError) as caught:
        read_when(text, "UTC", "session_1_date_time")
    assert caught.value.code == "ArtifactParseError"
    assert "session_1_date_time" in caught.value.message


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "UTC+1"])
def test_an_unknown_zone_is_an_error(zone):
    with pytest.raises(KipError) as caught:
        read_when("8 May, 2023", zone, "date")
    assert caught.value.code == "ConstraintViolation"
