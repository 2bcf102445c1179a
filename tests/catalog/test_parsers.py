"""The parsers of the releases as data: how they were read, and that they are those of the catalog."""

import pytest

from console.catalog import parsers
from console.catalog.knowledge import known
from console.errors import NotFound
from scripts.plugin_source import plugin_of
from scripts.read_parsers import lines, vllm_of


def test_every_release_that_can_be_offered_has_its_parser_and_its_vllm() -> None:
    offered = {one.vllm_ascend: one.vllm for one in known().releases}
    for release, vllm in offered.items():
        nearest = parsers.nearest(release)
        assert parsers.plugin(nearest).vllm == vllm, release
    assert offered.keys() - set(parsers.releases()) <= {"0.7.3.post1"}


def test_the_facts_about_each_release_are_in_its_parser() -> None:
    assert parsers.parser_of("0.23.0").options["--gpu-memory-utilization"].default == 0.92
    assert parsers.parser_of("0.18.0").options["--gpu-memory-utilization"].default == 0.9
    assert "ascend" in parsers.parser_of("0.9.1").options["--quantization"].choices
    assert parsers.parser_of("0.23.0").options["--tensor-parallel-size"].also == ("-tp",)
    assert parsers.parser_of("0.23.0").options["--tokenizer-mode"].known[-1] == "deepseek_v4"
    assert "deepseek_v31" in parsers.parser_of("0.13.0").tool_parsers
    assert parsers.plugin("0.30.0rc2").strict
    assert not parsers.plugin("0.23.0.post1").strict
    assert parsers.plugin("0.23.0.post1").config["enable_mlapo"].env == "VLLM_ASCEND_ENABLE_MLAPO"
    assert parsers.plugin("0.23.0.post1").config["ascend_compilation_config"].keys["enable_npugraph_ex"] is True


def test_releases_are_sorted_and_unknown_ones_fall_back_to_an_older_one() -> None:
    assert parsers.releases()[0] == "0.30.0rc2"
    assert parsers.newest_stable() == "0.23.0.post1"
    assert parsers.nearest("0.20.2rc1") == "0.18.0"
    assert parsers.nearest("v0.23.0rc1") == "0.18.0"
    assert parsers.nearest("0.1") == "0.7.3"
    assert parsers.order("0.23.0rc1") < parsers.order("0.23.0") < parsers.order("0.23.0.post1")
    with pytest.raises(NotFound, match=r"9\.9"):
        parsers.plugin("9.9")


@pytest.mark.parametrize(("word", "number"), [("16384", 16384), ("16k", 16000), ("16K", 16384), ("1.5k", 1500)])
def test_numbers_of_tokens(word: str, number: int) -> None:
    assert parsers.number_of_tokens(word) == number


@pytest.mark.parametrize("word", ["", "k", "1.5K", "1,000"])
def test_what_is_no_number_of_tokens(word: str) -> None:
    with pytest.raises(ValueError):
        parsers.number_of_tokens(word)


def test_the_rebuilt_parser_takes_and_refuses_what_the_release_does() -> None:
    parser = parsers.argument_parser("0.23.0")
    parsed = parser.parse_args(parsers.dashed(["/m", "--tensor_parallel_size", "2", "--no-enable-prefix-caching"]))
    assert (parsed.model_tag, parsed.tensor_parallel_size, parsed.enable_prefix_caching) == ("/m", 2, False)
    for words in (["--swap-space", "4"], ["--seed", "x"], ["--dtype", "int3"], ["--max-num", "3"], ["--seed"]):
        with pytest.raises(ValueError):
            parser.parse_args(["/m", *words])


VLLM = {
    "vllm/config/model.py": '''
from typing import Literal
Kind = Literal["a", "b"]
class ModelConfig:
    model: str = "x"
    kind: Kind = "a"
    name: str | None = None
    sizes: list[int] | None = None
    on: bool = True
    max_model_len: int = Field(default=7)
    inner: Inner = field(default_factory=dict)
class Inner:
    x: int = 1
''',
    "vllm/engine/arg_utils.py": '''
class EngineArgs:
    def add_cli_args(parser):
        model_kwargs = get_kwargs(ModelConfig)
        group.add_argument("--model", **model_kwargs["model"])
        group.add_argument("--kind", "-k", **model_kwargs["kind"])
        group.add_argument("--on", **{**model_kwargs["on"], "default": None})
        group.add_argument("--sizes", **model_kwargs["sizes"])
        group.add_argument("--inner", **model_kwargs["inner"])
        group.add_argument("--max-model-len", **model_kwargs["max_model_len"])
        group.add_argument("--old", action="store_true")
''',
    "vllm/utils/a.py": "def human_readable_int(value): ...",
    "vllm/envs.py": 'environment_variables = {"VLLM_A": lambda: 1}',
    "vllm/reasoning/__init__.py": '_REASONING_PARSERS_TO_REGISTER = {"r1": ("m", "C")}',
    "vllm/tool_parsers/x.py": '@ToolParserManager.register_module(["t1", "t2"])\nclass T: ...',
}  # fmt: skip


def test_options_are_read_from_source_as_the_engine_makes_them() -> None:
    made = vllm_of(VLLM)
    assert made["options"] == {
        "--model": {"kind": "str", "default": "x"},
        "--kind": {"kind": "str", "default": "a", "choices": ["a", "b"], "also": ["-k"]},
        "--on": {"kind": "toggle", "default": None},
        "--sizes": {"kind": "list", "default": None},
        "--inner": {"kind": "json", "default": {}},
        "--max-model-len": {"kind": "tokens", "default": 7},
        "--old": {"kind": "switch"},
    }
    assert (made["env"], made["reasoning_parsers"], made["tool_parsers"]) == (["VLLM_A"], ["r1"], ["t1", "t2"])
    assert lines(made).count("\n") > 8


def test_keys_of_the_plugin_are_read_from_both_ways_it_was_written_in() -> None:
    old = plugin_of({
        "Dockerfile": "ARG VLLM_TAG=v0.18.0\n",
        "vllm_ascend/ascend_config.py": '''
class AscendConfig:
    def __init__(self, vllm_config):
        self.a = additional_config.get("a", False)
        self.b = self._get_config_value(additional_config, "b", "VLLM_ASCEND_B", envs.B)
        self.graph = GraphConfig(additional_config.get("graph_config", {}))
class GraphConfig:
    def __init__(self, graph_config):
        self.on = graph_config.get("on", True)
''',
    })  # fmt: skip
    assert (old["vllm"], old["strict"]) == ("0.18.0", False)
    assert old["config"]["b"] == {"env": "VLLM_ASCEND_B"}
    assert old["config"]["graph_config"] == {"default": {}, "keys": {"on": True}}
    new = plugin_of({
        "vllm_ascend/ascend_config.py": '''
class AscendConfig:
    model_config = ConfigDict(extra="forbid")
    a: bool = True
    graph_config: GraphConfig = field(default_factory=GraphConfig)
    _own: int = 1
class GraphConfig:
    on: bool = False
''',
    })  # fmt: skip
    assert new["strict"]
    assert new["config"] == {"a": {"default": True}, "graph_config": {"keys": {"on": False}}}
