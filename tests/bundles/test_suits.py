"""A bundle is held against what a host has told of itself, before gigabytes are sent there."""

from dataclasses import replace
from typing import Any

import pytest

from console.bundles.manifest import Order
from console.bundles.suits import misfits
from console.text import render
from tests.plans.resolving import KNOWN, target

ORDER = Order("0.23.0", "0.23.0", "9.1.0", "A2", "ubuntu-22.04", "aarch64", "3.12", "2.35", "venv")


@pytest.mark.parametrize(
    ("host", "order", "said"),
    [
        ({"arch": "x86_64"}, {}, "for aarch64, this host is x86_64"),
        ({"chip": "310P3"}, {}, "for chips of A2, this host has 310P3"),
        ({"pythons": ((3, 11), (3, 9))}, {}, "Python 3.12, this host has 3.11, 3.9. Build it again"),
        ({"glibc": (2, 28)}, {}, "glibc up to 2.35, this host has 2.28"),
        ({"arch": "x86_64"}, {"route": "docker"}, "for aarch64"),
    ],
)
def test_what_does_not_suit_is_told(host: dict[str, Any], order: dict[str, str], said: str) -> None:
    fitting = {"arch": "aarch64", "glibc": (2, 35), "pythons": ((3, 12),)}
    told = [render(one, "en") for one in misfits(replace(ORDER, **order), target(**{**fitting, **host}), KNOWN)]
    assert len(told) == 1
    assert said in told[0]


@pytest.mark.parametrize(
    ("host", "order"),
    [
        ({"pythons": ((3, 10), (3, 12)), "glibc": (2, 38)}, {}),
        ({"pythons": (), "glibc": None, "arch": "", "chip": ""}, {}),
        ({"pythons": ((3, 9),), "glibc": (2, 28)}, {"route": "docker"}),
    ],
)
def test_what_suits_or_is_not_known_is_not_told(host: dict[str, Any], order: dict[str, str]) -> None:
    assert misfits(replace(ORDER, **order), target(**host), KNOWN) == ()
