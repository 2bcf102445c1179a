"""Asking a host, keeping what it printed, and reading it again."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.errors import HostError
from console.facts.local import FACTS
from console.facts.probe import Facts, Raw, read
from console.hosts import kept, observe
from console.hosts.inventory import Host
from console.plans import local_cpu
from console.records import writing
from db import models
from tests.jobs.conftest import data, host

__all__ = ["data", "host"]


def test_a_probe_is_kept_as_it_was_printed(host: Host) -> None:
    assert observe.latest(host) is None
    assert observe.judged(host) is None
    raws = observe.probe(host, actor="ann")
    assert {fact.name for fact in FACTS} <= set(raws)
    seen = observe.latest(host)
    assert seen is not None
    assert {name: (raw.text, raw.code, raw.timed_out) for name, raw in seen.raws.items()} == {
        name: (raw.text, raw.code, raw.timed_out) for name, raw in raws.items()
    }
    assert raws["kernel"].text.strip().startswith(" ".join((os.uname().sysname, os.uname().release)))
    observe.probe(host, actor="ann")
    later = observe.latest(host)
    assert later is not None
    assert later.probe_id > seen.probe_id


def test_every_kept_fact_has_a_line_or_a_reason(host: Host) -> None:
    observe.probe(host, actor="ann")
    seen = observe.latest(host)
    assert seen is not None
    assert len(seen.lines()) > 10
    assert all(str(title) and str(value) for title, value in seen.lines())


def test_a_better_parser_reads_old_output_anew(host: Host) -> None:
    observe.probe(host, actor="ann")
    with writing() as session:
        row = session.query(models.Observation).filter_by(name="usable_cpus").one()
        row.text, row.code = "no number", 0
    checked, seen = observe.judged(host), observe.latest(host)
    assert checked is not None
    assert seen is not None
    assert "usable_cpus" not in seen.facts.values
    assert str(seen.facts.reason("usable_cpus"))
    assert any(one.verdict.level == "unknown" for one in checked.judged if "usable_cpus" in one.facts)


def test_a_host_that_says_nothing_usable_is_an_error_and_nothing_is_kept(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = tmp_path / "bin" / "sh"
    shell.parent.mkdir()
    shell.write_text("#!/bin/cat\n")
    shell.chmod(0o700)
    monkeypatch.setenv("PATH", str(shell.parent))
    with pytest.raises(HostError, match="nothing that could be read"):
        observe.probe(host, actor="ann")
    assert observe.latest(host) is None


def test_what_is_free_now(host: Host) -> None:
    machine = observe.machine(host)
    assert 1 <= machine.cores <= len(machine.core_ids)
    assert machine.core_ids == tuple(sorted(os.sched_getaffinity(0)))
    assert 0 < machine.memory_available_bytes <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert machine.arch == os.uname().machine


@pytest.mark.parametrize("missing", ["usable_cpus", "meminfo", "listeners"])
def test_a_missing_figure_is_named_and_never_guessed(host: Host, missing: str) -> None:
    raws = {name: raw for name, raw in observe.probe(host, actor="ann").items() if name != missing}
    with pytest.raises(HostError, match="could not be read"):
        observe.machine_of(read(raws))
    with pytest.raises(HostError):
        observe.machine_of(Facts({}, {}))


def test_a_container_that_may_use_less_has_less(host: Host) -> None:
    facts = read(observe.probe(host, actor="ann"))
    limits = replace(facts.values["limits"], memory_bytes=3 * 2**30, memory_used_bytes=2**30)  # type: ignore[type-var]
    tight = Facts({**facts.values, "limits": limits}, {})
    assert observe.machine_of(tight).memory_available_bytes == 2 * 2**30


@given(st.sets(st.integers(0, 300), min_size=1))
def test_cpu_lists_are_read_as_the_kernel_writes_them(ids: set[int]) -> None:
    parts, ordered = [], sorted(ids)
    while ordered:
        first = last = ordered.pop(0)
        while ordered and ordered[0] == last + 1:
            last = ordered.pop(0)
        parts.append(f"{first}-{last}" if last > first else str(first))
    assert observe.cpu_ids(",".join(parts)) == tuple(sorted(ids))


@pytest.mark.parametrize("words", ["", "none", "0-", "-3", "0,,1", "a-b", "1-2-3", "0x3"])
def test_other_words_are_no_cpu_list(words: str) -> None:
    assert observe.cpu_ids(words) == ()


def test_no_runtime_at_all(host: Host) -> None:
    assert observe.runtime(host) is None
    found = observe.look_at_runtime(host)
    assert (found.complete, str(found.words)) == (False, "vLLM is not installed")
    assert observe.runtime(host) == replace(found, time=observe.runtime(host).time)  # type: ignore[union-attr]
    assert observe.latest(host) is None, "a look at the runtime is no probe of the host"


def test_half_a_runtime_says_what_is_missing(host: Host) -> None:
    Path(local_cpu.runtime_folder(local_cpu.LocalCpuTarget(host.work_folder, machine=os.uname().machine))).mkdir(
        parents=True
    )
    found = observe.look_at_runtime(host)
    assert not found.complete
    assert str(found.words).startswith("vLLM is not installed completely: ")


def test_the_last_look_counts(host: Host) -> None:
    observe.look_at_runtime(host)
    kept.keep(host.id, [Raw(kept.RUNTIME, "", 0, 1.0)], 0.0, actor="console")
    found = observe.runtime(host)
    assert found is not None
    assert found.complete
    assert local_cpu.catalog()["engine"]["version"] in str(found.words)
