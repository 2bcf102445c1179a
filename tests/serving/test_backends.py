"""The contract every backend keeps; a new file in console/serving/backends is tested here by being there."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from console.errors import NotFound
from console.serving.backends import Backend, backend, names
from console.serving.command import Command, command, shell
from console.serving.spec import ServeSpec, refusals
from tests.serving.subjects import MACHINE, SMOL, TINY_MLA, spec

ALL = [backend(name) for name in names()]
FOLDER = "/w/runtimes/r"


ON_NPUS = {"release": "0.23.0.post1", "chip": "910B4", "device_ids": (0, 1), "core_ids": ()}
"""What every backend for NPUs has to be told."""


def asked(one: Backend, **changes: object) -> ServeSpec:
    plain = ON_NPUS if one.name.startswith("ascend") else {}
    return spec(**{"backend": one.name, **plain, **changes})


def environment(made: Command) -> dict[str, str]:
    """Variables of the engine: those of the process, and those handed to a container."""
    given = [value for word, value in pairwise(made.argv) if word == "--env" and "=" in value]
    return {**made.env, **{name: value for name, _, value in (one.partition("=") for one in given)}}


def test_the_local_one_is_there_and_others_are_not() -> None:
    assert "local_cpu" in names()
    with pytest.raises(NotFound, match=r"'nowhere'.*local_cpu"):
        backend("nowhere")


@pytest.mark.parametrize("one", ALL, ids=names())
class TestContract:
    def test_it_is_called_as_its_file_and_says_what_it_needs(self, one: Backend) -> None:
        assert one is backend(one.name)
        assert str(one.title)
        assert one.needs
        assert all(str(need).endswith(".") for need in one.needs)

    def test_its_runtime_is_below_the_work_folder(self, one: Backend) -> None:
        made = one.runtime_folder("/data/pilot", "aarch64")
        assert made.startswith("/data/pilot/")
        assert made == one.runtime_folder("/data/pilot", "aarch64")

    def test_its_command_serves_what_was_asked_and_can_be_stored(self, one: Backend) -> None:
        wanted = asked(one, api_key=True, max_num_seqs=3)
        made = command(wanted, FOLDER)
        assert made == one.command(wanted, FOLDER)
        for word in (wanted.model_folder, wanted.served_name, str(wanted.port), str(wanted.context)):
            assert word in made.argv
        assert all(type(word) is str for word in (*made.argv, *made.env, *made.env.values()))
        assert json.loads(json.dumps([made.argv, dict(made.env)]))[0] == list(made.argv)

    def test_nothing_leaves_the_machine_and_no_secret_is_shown(self, one: Backend) -> None:
        made = command(asked(one, api_key=True), FOLDER)
        for name in ("VLLM_NO_USAGE_STATS", "DO_NOT_TRACK", "HF_HUB_OFFLINE"):
            assert environment(made)[name] == "1"
        assert made.secret_env == ("VLLM_API_KEY",)
        assert "--api-key" not in made.argv
        assert "VLLM_API_KEY" not in environment(made)
        assert "VLLM_API_KEY" in shell(made)

    def test_strange_words_stay_one_word(self, one: Backend) -> None:
        folder = "/模型/it's a $(folder)"
        assert folder in command(asked(one, model_folder=folder), FOLDER).argv

    def test_refusals_name_settings_and_say_why(self, one: Backend) -> None:
        poor = replace(MACHINE, memory_available_bytes=0)
        found = refusals(asked(one, port=8000, context=-1), SMOL, poor, one)
        assert {refusal.field for refusal in found} >= {"port", "context"}
        for refusal in found:
            assert refusal.field in ServeSpec.__dataclass_fields__
            assert str(refusal.reason).endswith((".", ")"))
        assert refusals(asked(one, tensor_parallel=2), TINY_MLA, MACHINE, one) == []
