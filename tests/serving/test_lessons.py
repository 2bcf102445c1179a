"""What servers on NPUs said of their memory against the sum: from lines that real ones printed, for real hosts only."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Reach
from console.jobs.logs import attempt_log
from console.records import writing
from console.serving import instances, lessons
from console.serving.asked import ServeSpec
from console.serving.instances import Instance
from console.serving.measured import read_log
from console.serving.shape import Shape
from db import models
from tests.jobs.conftest import data
from tests.running import ROOT
from tests.serving.fitting import GIB, model
from tests.serving.test_ascend_backends import npus
from tests.serving.test_fit_documented import QWEN3_14B

__all__ = ["data"]
STARTS = ROOT / "tests" / "samples" / "starts"
LARGE = replace(model("Qwen3-235B-A22B"), stored_scheme="w8a8")
LARGE_SPEC = npus(chip="910B3", device_ids=(0, 1, 2, 3), tensor_parallel=4, quantization="ascend")
SMALLER = replace(QWEN3_14B, stored_scheme="none")
SMALLER_SPEC = npus(device_ids=(0,), context=4096, enforce_eager=True)


@pytest.fixture
def far(data: Path) -> Host:
    return inventory.add_host("npu-1", Reach("192.0.2.7"), actor="ann")


def started(host: Host, spec: ServeSpec, sample: str, shape: Shape | None) -> Instance:
    """An instance whose first attempt printed this."""
    number = instances.create(host.id, spec, noise=False, actor="ann")
    health = {"attempt": 1} if shape is None else {"attempt": 1, lessons.SHAPE: lessons.stored(shape)}
    with writing() as session:
        row = session.get_one(models.Instance, number)
        row.attempt, row.health = 1, json.dumps(health)
        one = models.Attempt(
            instance_id=number, number=1, actor="ann", command="vllm", folder="/f", started=time.time()
        )
        session.add(one)
    attempt_log(number, 1).take((STARTS / sample).read_bytes(), ended=True)
    return instances.instance(number)


def test_every_sample_says_something_and_where_it_is_from() -> None:
    known = yaml.safe_load((STARTS / "index.yaml").read_text())
    assert known.keys() == {file.name for file in STARTS.glob("*.txt")}
    assert all(read_log((STARTS / name).read_text()) is not None for name in known)


@pytest.mark.parametrize("backend", ["ascend_venv", "ascend_docker"])
def test_the_cache_of_a_server_on_npus_is_held_against_the_sum(backend: str, far: Host) -> None:
    started(far, replace(LARGE_SPEC, backend=backend), "qwen3_235b_w8a8_tp4.txt", LARGE)
    (lesson,) = lessons.lessons({})
    assert lesson.difference is not None
    assert (lesson.difference.figure, lesson.difference.measured) == ("kv_tokens", 178880)
    estimate = lessons.estimated(lesson.instance)
    assert estimate is not None
    assert (estimate.layout.tp, estimate.scheme.id, estimate.card.name) == (4, "w8a8", "910B3")
    room = estimate.room(1, 1)
    each = estimate.stages[0][1]
    assert lesson.difference.estimated == pytest.approx(max(0, room.free + room.kv) / each)
    assert lesson.difference.error == pytest.approx(lesson.difference.estimated / 178880 - 1)
    assert {one.figure: one.measured for one in lesson.others} == {"kv_bytes": round(8.11 * GIB)}


def test_a_start_that_failed_teaches_too(far: Host) -> None:
    started(far, SMALLER_SPEC, "qwen3_14b_no_room.txt", SMALLER)
    (lesson,) = lessons.lessons({})
    assert lesson.difference is None, "it got no cache to count"
    apart = {one.figure: one for one in lesson.others}
    assert abs(apart["weights"].error) < 0.002
    assert apart["kv_bytes"].measured < 0
    assert apart["kv_bytes"].estimated < 0


@pytest.mark.parametrize(
    ("spec", "shape"),
    [(SMALLER_SPEC, None), (npus(chip="910Z"), SMALLER), (SMALLER_SPEC, replace(SMALLER, stored_scheme="w0a0"))],
)
def test_without_the_model_or_the_card_there_is_a_measure_and_no_error(
    spec: ServeSpec, shape: Shape | None, far: Host
) -> None:
    started(far, spec, "second_engine_on_a_card.txt", shape)
    (lesson,) = lessons.lessons({})
    assert lesson.seen.kv_bytes == round(-1.33 * GIB)
    assert (lesson.difference, lesson.others) == (None, ())


def test_a_rehearsal_host_teaches_nothing(data: Path) -> None:
    played = inventory.add_host("played", Reach("127.0.0.1"), scenario="two-healthy-910b4", actor="ann")
    started(played, LARGE_SPEC, "qwen3_235b_w8a8_tp4.txt", LARGE)
    assert lessons.lessons({}) == []


def test_what_is_kept_of_a_model_comes_back() -> None:
    kept = json.loads(json.dumps(lessons.stored(LARGE)))
    assert lessons.shape_of(kept) == LARGE
    assert lessons.shape_of({**kept, "gone": 1, "config": {**kept["config"], "gone": 2}}) == LARGE
    assert lessons.shape_of(None) is lessons.shape_of({"config": 1}) is lessons.shape_of({"config": {}}) is None
