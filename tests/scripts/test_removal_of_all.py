"""Removal after an upgrade: what the console brought before goes too, and what others brought stays."""

import shlex
from pathlib import Path

import pytest

from console.plans import ascend_removal
from console.plans.ascend import Options
from console.plans.refusals import Route
from scripts.fake import make_package
from tests.jobs.ascend_wheels import packages
from tests.plans.resolving import KNOWN, on
from tests.scripts.rehearsed import Host, why_not
from tests.scripts.test_install_faults import BARE, HEALTHY, WORK, plan, said

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())
OLD, NEW = "9.0.0", "9.1.0"
PARTS = ("toolkit", "ops", "nnal")


def test_cann_of_before_an_upgrade_goes_too_and_that_of_others_stays(tmp_path: Path) -> None:
    bundle = packages(tmp_path / "a bundle")
    for kind in PARTS:
        make_package.write(kind, OLD, "910b", bundle, size_mb=0.01)
    stacks = {one.variant.cann: one for one in on(Route.VENV, **vars(HEALTHY)).stacks}
    options = Options(WORK, packages=str(bundle))
    host = Host(tmp_path / "host", "two-healthy-910b4")
    before, now = (plan(HEALTHY, bundle, release=stacks[cann].release.vllm_ascend) for cann in (OLD, NEW))
    told = said(host, *(before[one] for one in PARTS), *(now[one] for one in PARTS))
    assert [line for line in told.splitlines() if line.endswith(".verify=0")] == [
        f"{one}.verify=0" for one in PARTS
    ] * 2
    assert {f"cann-{OLD}", f"cann-{NEW}"} <= set(host.run("ls /usr/local/Ascend").split())
    alone = ascend_removal.plan(HEALTHY, stacks[NEW], options, KNOWN)
    said(host, *alone)
    left = set(host.run("ls /usr/local/Ascend").split())
    assert f"cann-{OLD}" in left
    assert f"cann-{NEW}" not in left
    every = ascend_removal.plan(HEALTHY, stacks[NEW], options, KNOWN, earlier=[OLD])
    assert [one.name for one in every][-3:] == [f"remove-{one}-{OLD}" for one in reversed(PARTS)]
    told = said(host, *(one for one in every if OLD in one.name))
    assert all(f"remove-{one}-{OLD}.verify=0" in told for one in PARTS)
    assert f"cann-{OLD}" not in host.run("ls /usr/local/Ascend").split()


def test_every_image_that_was_brought_goes_and_the_last_is_what_is_installed(tmp_path: Path) -> None:
    bundle = packages(tmp_path / "a bundle")
    stacks = list({one.release.vllm_ascend: one for one in on(Route.DOCKER, **vars(BARE)).stacks}.values())[:3]
    pulled = [plan(BARE, bundle, Route.DOCKER, one.release.vllm_ascend, source="index")["image"] for one in stacks]
    host = Host(tmp_path / "host", "two-healthy-910b4")
    others = next(line for line in pulled[2].script.splitlines() if line.startswith("image="))
    host.run(f'{others}; docker pull "$image" >/dev/null')
    told = said(host, pulled[0], pulled[1], pulled[0])
    assert told.count("image.verify=0") == 3
    notes = host.run(f"cat {shlex.quote(WORK)}/installs/image").split()
    assert len(notes) == 2, "one line an image"
    assert notes[-1] in pulled[0].script
    (gone,) = (one for one in ascend_removal.plan(BARE, stacks[0], Options(WORK), KNOWN) if one.name == "remove-image")
    assert "remove-image=0\nremove-image.verify=0" in said(host, gone)
    left = [line for line in host.run("docker images").splitlines() if "vllm-ascend" in line]
    assert len(left) == 1, "that of somebody else"
