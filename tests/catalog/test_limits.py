"""Numbers that options take: each is of an option that is known, and no release breaks its own limits."""

import pytest

from console.catalog import parsers
from console.catalog.limits import limits


def test_every_limit_is_of_an_option_that_takes_a_number() -> None:
    for name in limits():
        kinds = {
            parsers.parser_of(one).options[name].kind
            for one in parsers.releases()
            if name in parsers.parser_of(one).options
        }
        assert kinds, name
        assert kinds <= {"int", "float", "tokens"}, name


@pytest.mark.parametrize("release", parsers.releases())
def test_what_a_release_does_by_itself_is_within_the_limits(release: str) -> None:
    for name, option in parsers.parser_of(release).options.items():
        if name in limits() and isinstance(option.default, int | float):
            assert limits()[name].holds(option.default), name


@pytest.mark.parametrize(
    ("name", "taken", "refused", "said"),
    [
        ("--port", (1, 65535), (0, 65536), "a number from 1 to 65535"),
        ("--gpu-memory-utilization", (0.01, 1), (0, 1.01, float("nan")), "a number above 0, up to 1"),
        ("--video-pruning-rate", (0, 0.99), (1,), "a number from 0 on, below 1"),
        ("--max-model-len", (-1, 1), (0, -2), "-1, or 1 or more"),
        ("--swap-space", (0,), (-1, float("inf")), "0 or more"),
    ],
)
def test_what_is_taken_and_how_it_is_said(
    name: str, taken: tuple[float, ...], refused: tuple[float, ...], said: str
) -> None:
    one = limits()[name]
    assert all(map(one.holds, taken))
    assert not any(map(one.holds, refused))
    assert str(one.text) == said
