"""One check asked again alone: what is new is new, and what is old stays as old as it is."""

from pathlib import Path

import pytest

from console.checks import CHECKS
from console.errors import HostError, NotFound
from console.hosts import compared, kept, observe
from console.hosts.inventory import Host
from console.jobs import history, path
from console.records import writing
from db import models
from tests.hosts.said import remote, say_again, say_only
from tests.jobs.conftest import data, host

__all__ = ["data", "host"]
SLOW = {"governors": "begin\n    128 powersave\n"}


def level(host: Host, check: str) -> str:
    checked = observe.judged(host)
    assert checked is not None
    return next(one.standing for one in checked.judged if one.name == check)


def test_only_the_facts_of_the_check_are_asked(host: Host) -> None:
    observe.probe(host, actor="ann")
    raws = observe.probe(host, actor="ann", check="cpu_cores")
    needed = {*CHECKS["cpu_cores"].facts, *CHECKS["cpu_cores"].optional}
    assert needed <= set(raws) <= {*needed, "probe"}


def test_the_new_answer_is_laid_over_the_old_ones_which_keep_their_age(data: object) -> None:
    host = remote("gpu1", **SLOW)
    first = observe.latest(host)
    assert first is not None
    assert level(host, "cpu_governor") == "warn"
    say_only(host, "cpu_governor", governors="begin\n    128 performance\n")
    assert level(host, "cpu_governor") == "pass"
    seen = observe.latest(host)
    assert seen is not None
    assert (seen.probe_id, seen.time) == (first.probe_id, first.time), "the whole is no younger than before"
    assert set(seen.times) == {"governors"}
    assert seen.asked("governors") >= seen.asked("kernel") == first.time
    assert kept.ONLY_FOR not in seen.raws


def test_the_next_whole_probe_ends_what_was_asked_between(data: object) -> None:
    host = remote("gpu1")
    say_only(host, "cpu_governor", **SLOW)
    assert level(host, "cpu_governor") == "warn"
    say_again(host)
    assert level(host, "cpu_governor") == "pass"
    seen = observe.latest(host)
    assert seen is not None
    assert seen.times == {}


def test_of_two_answers_the_later_counts(data: object) -> None:
    host = remote("gpu1")
    say_only(host, "cpu_governor", **SLOW)
    say_only(host, "cpu_governor", governors="begin\n    128 performance\n")
    assert level(host, "cpu_governor") == "pass"


def test_an_answer_for_one_check_alone_is_no_probe_of_the_host(host: Host) -> None:
    observe.probe(host, actor="ann", check="architecture")
    assert observe.latest(host) is None


def test_a_check_that_does_not_exist_is_named(host: Host) -> None:
    with pytest.raises(NotFound, match="There is no check moon"):
        observe.probe(host, actor="ann", check="moon")


def test_a_host_that_answers_none_of_it_is_an_error(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe.probe(host, actor="ann")
    with writing() as session:
        probes = session.query(models.Probe).count()
    shell = tmp_path / "bin" / "sh"
    shell.parent.mkdir()
    shell.write_text("#!/bin/cat\n")
    shell.chmod(0o700)
    monkeypatch.setenv("PATH", str(shell.parent))
    with pytest.raises(HostError, match="nothing that could be read"):
        observe.probe(host, actor="ann", check="architecture")
    with writing() as session:
        assert session.query(models.Probe).count() == probes


def test_asking_again_is_a_job_of_its_own_beside_others(host: Host) -> None:
    job = path.ask_again("cpu_cores", host.id, actor="ann")
    assert path.ask_again("cpu_cores", host.id, actor="ann") == job, "a double click"
    assert path.ask_again("numa_layout", host.id, actor="ann") != job
    assert history.job(job).kind == path.RECHECK
    assert history.latest("check", host.id) is None, "the stage Check is not about it"


def test_what_changed_is_against_the_whole_probe_before(data: object) -> None:
    host = remote("gpu1")
    checked = observe.judged(host)
    assert checked is not None
    assert compared.changes(host, checked) is None
    say_again(host, **SLOW)
    assert changed(host) == {"cpu_governor": ("pass", "warn")}
    say_only(host, "cpu_governor", governors="begin\n    128 performance\n")
    assert changed(host) == {}, "it was mended since"
    say_only(host, "c_library", libc="glibc 2.20\n")
    assert changed(host) == {"c_library": ("pass", "fail")}


def test_what_was_not_asked_before_is_new(host: Host) -> None:
    observe.probe(host, actor="ann")
    observe.probe(host, actor="ann", profile="ascend-two-cards")
    checked = observe.judged(host, "ascend-two-cards")
    assert checked is not None
    found = compared.changes(host, checked)
    assert found is not None
    new = {one.either.name for one in found.found if one.kind == "new"}
    assert {"cpu_governor", "open_files"} <= new
    assert "architecture" not in new


def changed(host: Host) -> dict[str, tuple[str, str]]:
    checked = observe.judged(host)
    assert checked is not None
    found = compared.changes(host, checked)
    assert found is not None
    return {
        one.either.name: (one.was.standing if one.was else "", one.now.standing if one.now else "")
        for one in found.found
    }


def test_two_hosts_side_by_side(data: object) -> None:
    good, bad = remote("good"), remote("bad", libc="glibc 2.20\n", **SLOW)
    found = compared.compare(good, bad)
    assert {one.either.name for one in found.checks if one.kind != "same"} == {"c_library", "cpu_governor"}
    assert {one.name for one in found.facts if not one.is_same} == {"libc", "governors"}
    assert compared.compare(good, good).checks
    never = observe.inventory.add_host("never", good.reach, actor="ann")  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="never has not been checked"):
        compared.compare(good, never)
