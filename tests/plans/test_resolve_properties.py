"""Whatever a host is, every release gets either a stack that keeps its pins or a reason."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from console.catalog.ascend import Fit, order
from console.plans.needs import DriverState
from console.plans.refusals import Route
from console.plans.resolve import resolve
from console.plans.target import Target, dotted
from tests.plans.resolving import KNOWN

CHIPS = [name for chip in KNOWN.chips for name in (*chip.names, *chip.also)]
ODD = st.text(max_size=12)
NUMBER = st.integers(0, 40)
DRIVERS = st.one_of(
    st.none(),
    st.sampled_from(
        ["22.0.4.1", "24.1.rc2", "24.1.1", "25.0.rc1.1", "25.2.0", "25.5.1", "26.0.RC1", "26.2.rc1", "30.0.0"]
    ),
    st.builds("{}.{}.{}".format, NUMBER, NUMBER, NUMBER),
    st.builds("{}.{}.rc{}".format, NUMBER, NUMBER, NUMBER),
)
PYTHONS = st.lists(st.tuples(st.just(3), st.integers(5, 15)), max_size=3).map(tuple)
TARGETS = st.builds(
    Target,
    chip=st.one_of(st.sampled_from(CHIPS), ODD),
    arch=st.one_of(st.sampled_from(["aarch64", "x86_64"]), ODD),
    system=st.one_of(st.sampled_from(sorted(KNOWN.systems)), ODD),
    driver=DRIVERS,
    firmware=st.sampled_from([None, "7.8.0.6.201", "7.1.0.6.220"]),
    glibc=st.one_of(st.none(), st.tuples(st.just(2), st.integers(12, 45))),
    pythons=PYTHONS,
    cann=st.sampled_from([None, "9.1.0", "8.5.1", "8.3.rc2", "6.3.0"]),
)


@given(TARGETS)
@settings(max_examples=150)
def test_every_release_is_either_offered_or_refused(target: Target) -> None:
    found = resolve(target, KNOWN)
    offered = {(one.release.vllm_ascend, one.route) for one in found.stacks}
    refused = [(one.release.vllm_ascend, one.route) for one in found.refused]
    assert len(refused) == len(set(refused))
    assert not offered & set(refused)
    assert offered | set(refused) == {(one.vllm_ascend, route) for one in KNOWN.releases for route in Route}
    assert [one.rank for one in found.stacks] == list(range(1, len(found.stacks) + 1))
    assert all(one.words("en") and one.words("zh") for one in found.refused)
    json.dumps(found.plain())


@given(TARGETS)
@settings(max_examples=150)
def test_no_stack_violates_its_pins(target: Target) -> None:
    for one in resolve(target, KNOWN).stacks:
        release, variant = one.release, one.variant
        chip = KNOWN.called(target.chip)
        assert chip is not None
        assert chip.supported
        assert chip.family in release.chips
        assert not variant.chips or chip.family in variant.chips
        assert not variant.archs or target.arch in variant.archs
        row = KNOWN.row(release.vllm_ascend)
        assert row is not None
        assert release.vllm in row.vllm
        assert variant in row.variants
        if one.route is Route.DOCKER:
            assert variant.image
            assert one.image is not None
            assert f":v{release.vllm_ascend}" in one.image
            continue
        _keeps_wheels(target, one.python, [("vllm-ascend", release.vllm_ascend), ("torch", release.torch)])
        _keeps_wheels(target, one.python, [("torch-npu", variant.torch_npu)])
        lowest, highest = release.python
        assert dotted(lowest) == one.python or lowest < tuple(map(int, one.python.split("."))) <= highest
        assert not target.pythons or one.python in [dotted(python) for python in target.pythons]


def _keeps_wheels(target: Target, python: str, pins: list[tuple[str, str]]) -> None:
    glibc = target.glibc or KNOWN.systems[target.system].glibc
    for pin in pins:
        wheel = KNOWN.wheels[pin]
        assert not wheel.only_source
        needed = wheel.glibc(target.arch)
        assert needed is None or needed <= glibc
        assert wheel.pythons is None or python in [dotted(one) for one in wheel.pythons]


@given(TARGETS)
@settings(max_examples=100)
def test_a_driver_that_may_stay_is_never_too_old(target: Target) -> None:
    for one in resolve(target, KNOWN).stacks:
        files = [package for package in one.packages if package.kind in ("driver", "firmware")]
        if one.driver.state in (DriverState.FITS, DriverState.UNLISTED):
            assert target.driver is not None
            assert order(target.driver) >= order(one.driver.least)
            assert not files
        rule = KNOWN.rule(one.variant.cann)
        if rule is not None and target.driver is not None and rule.fit(target.driver) in (Fit.TOO_OLD, Fit.EXCLUDED):
            assert one.driver.state is DriverState.UPGRADE


@given(TARGETS)
@settings(max_examples=50)
def test_the_answer_does_not_depend_on_luck(target: Target) -> None:
    assert resolve(target, KNOWN).plain() == resolve(target, KNOWN).plain()
