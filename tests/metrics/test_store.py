"""The samples file opens under any race, gives back what was put in, and says what is wrong in a sentence."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.errors import DataError
from console.metrics import store
from console.metrics.exposition import parse
from console.metrics.store import Samples
from tests.metrics.engine import PretendedEngine


@pytest.fixture
def samples(tmp_path: Path) -> Iterator[Samples]:
    with Samples(tmp_path / "samples.sqlite") as opened:
        yield opened


def fill(samples: Samples, instance: int, count: int) -> None:
    scrape = parse(PretendedEngine(running=instance).text())
    for time in range(count):
        samples.append(instance, time, 1, scrape)


def test_what_is_appended_comes_back_in_order_and_by_instance(samples: Samples) -> None:
    fill(samples, 3, 10)
    fill(samples, 4, 2)
    found = samples.between(3, 2, 5)
    assert [scrape.time for scrape in found] == [2, 3, 4, 5]
    assert {scrape.number("running") for scrape in found} == {3}
    last = samples.last(3)
    assert last is not None
    assert (last.time, last.attempt) == (9, 1)
    assert samples.last(5) is None


def test_another_process_sees_a_row_at_once(samples: Samples) -> None:
    fill(samples, 1, 1)
    with Samples(samples.path) as reader:
        assert reader.last(1) is not None


def test_spacing_gives_the_last_of_each_whole_stretch_wherever_the_read_begins(samples: Samples) -> None:
    fill(samples, 1, 100)
    assert [scrape.time for scrape in samples.between(1, 0, 95, spacing=10)] == [9, 19, 29, 39, 49, 59, 69, 79, 89]
    assert [scrape.time for scrape in samples.between(1, 33, 95, spacing=10)] == [49, 59, 69, 79, 89]


def test_pruning_takes_only_what_is_old(samples: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PRUNED_AT_ONCE", 7)
    for instance in (0, 2, 900):
        fill(samples, instance, 20)
    assert samples.prune(15) == 45
    assert [[s.time for s in samples.between(i, 0, 99)] for i in (0, 2, 900)] == [[15, 16, 17, 18, 19]] * 3
    assert samples.prune(15) == 0


OPEN_AND_WRITE = """
import sys
from pathlib import Path
from console.metrics.scrape import Scrape
from console.metrics.store import Samples
sys.stdin.read()
with Samples(Path(sys.argv[1])) as samples:
    for time in range(20):
        samples.append(int(sys.argv[2]), time, 1, Scrape())
"""


def test_processes_that_create_the_file_at_once_agree(tmp_path: Path) -> None:
    path, root = tmp_path / "samples.sqlite", Path(__file__).parents[2]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_AND_WRITE, str(path), str(number)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=root,
        )
        for number in range(6)
    ]
    for writer in writers:  # all have imported by the time their input ends, more or less at once
        assert writer.stdin is not None
        writer.stdin.close()
        writer.stdin = None
    for writer in writers:
        _, complaint = writer.communicate(timeout=60)
        assert (writer.returncode, complaint) == (0, b"")
    with Samples(path) as samples:
        assert [len(samples.between(number, 0, 99)) for number in range(6)] == [20] * 6


def test_a_locked_file_raises_a_sentence(samples: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BUSY_S", 0.05)
    with Samples(samples.path) as second:
        other = sqlite3.connect(samples.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DataError, match=r"kept .* locked"):
            fill(second, 1, 1)
        other.close()


def test_a_full_disk_raises_a_sentence(samples: Samples) -> None:
    pages = samples._file.execute("PRAGMA page_count").fetchone()[0]
    samples._file.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DataError, match="disk is full"):
        fill(samples, 1, 100)


def test_a_damaged_a_newer_and_an_unreachable_file_raise_sentences(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"no database at all" * 100)
    with pytest.raises(DataError, match="damaged"):
        Samples(damaged)
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as file:
        file.execute("PRAGMA user_version = 99")
    file.close()
    with pytest.raises(DataError, match="newer console"):
        Samples(newer)
    with pytest.raises(DataError, match="cannot be used: unable to open"):
        Samples(tmp_path / "absent" / "samples.sqlite")
