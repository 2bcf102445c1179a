"""Specs of servers: round trips, defaults, and every reason to refuse one."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.errors import InvalidInput
from console.serving.backends import backend
from console.serving.given import Machine
from console.serving.spec import (
    GIB,
    ServeSpec,
    defaults,
    kv_bytes_per_token,
    longest_context,
    name_of,
    refusals,
    tensor_parallel_choices,
    weight_bytes,
)
from tests.serving.subjects import MACHINE, SMOL, TINY_MLA, spec

LOCAL = backend("local_cpu")


def refused(what: ServeSpec, model: object = SMOL, machine: Machine = MACHINE) -> dict[str, str]:
    found = refusals(what, model, machine, LOCAL)  # type: ignore[arg-type]
    joined: dict[str, str] = {}
    for each in found:
        joined[each.field] = joined.get(each.field, "") + f"{each.reason} {each.instead or ''}"
    return joined


def test_a_good_spec_has_no_refusals() -> None:
    assert refused(spec()) == {}
    assert refused(spec(tensor_parallel=2), TINY_MLA) == {}
    assert refused(defaults(SMOL, MACHINE, "/data/models/smol")) == {}


def test_a_port_that_is_promised_is_neither_suggested_nor_taken() -> None:
    promised = replace(MACHINE, ports_promised={8001: "smol", 8002: "other"})
    assert defaults(SMOL, promised, "/models/SmolLM2").port == 8003
    (wrong,) = refusals(spec(port=8001), SMOL, promised, backend("local_cpu"))
    assert (wrong.field, str(wrong.reason)) == ("port", "Port 8001 belongs to the instance smol already.")
    assert str(wrong.instead) == "Port 8003 is free."


def test_defaults_take_the_next_port_the_folder_name_and_the_whole_context() -> None:
    made = defaults(SMOL, MACHINE, "/data/models/SmolLM2 135M (instruct)")
    assert (made.port, made.served_name, made.context) == (8001, "SmolLM2-135M-instruct", 8192)
    assert made.core_ids == (0, 1)


def test_defaults_shorten_a_context_that_one_gib_cannot_hold() -> None:
    long = replace(SMOL, max_context=1_000_000)
    made = defaults(long, MACHINE, "/m")
    assert made.context == longest_context(made, long) == 46592
    assert refused(made, long) == {}


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"pipeline_parallel": 2}, "pipeline_parallel", "sync_and_gather_intermediate_tensors"),
        ({"pipeline_parallel": 0}, "pipeline_parallel", "at least one"),
        ({"tensor_parallel": 2}, "tensor_parallel", "9 attention heads cannot be divided by tensor parallel 2"),
        ({"tensor_parallel": 0}, "tensor_parallel", "at least one rank"),
        ({"tensor_parallel": 3}, "tensor_parallel", "2 are there for 3"),
        ({"context": 8193}, "context", "at most 8192 tokens; 8193"),
        ({"context": 0}, "context", "at least one token"),
        ({"kv_space_gib": 0.1, "context": 8192}, "kv_space_gib", "8192 tokens takes 0.18 GiB of KV cache; 0.1 GiB"),
        ({"kv_space_gib": 0}, "kv_space_gib", "needs some space"),
        ({"kv_space_gib": float("nan")}, "kv_space_gib", "needs some space"),
        ({"kv_space_gib": 1.7e299}, "kv_space_gib", "not more than a machine has"),
        ({"kv_space_gib": 64}, "kv_space_gib", "16.0 GiB are available"),
        ({"dtype": "int3"}, "dtype", "bfloat16, float16, float32"),
        ({"port": 8000}, "port", "in use by nginx (pid 12). Port 8001 is free"),
        ({"port": 80}, "port", "1024 to 65535"),
        ({"port": 65536}, "port", "1024 to 65535"),
        ({"served_name": ""}, "served_name", "Use model."),
        ({"served_name": "a b;rm"}, "served_name", "Use a-b-rm."),
        ({"served_name": "a/../b?x"}, "served_name", "letters"),
        ({"served_name": "x" * 101}, "served_name", "100"),
        ({"host": "0.0.0.0"}, "host", "without a key"),
        ({"host": "a b"}, "host", "not an address"),
        ({"host": ""}, "host", "not an address"),
        ({"host": "192.0.2.7", "api_key": True}, "host", "listens at 192.0.2.7 alone does not answer"),
        ({"host": "::1"}, "host", "listens at ::1 alone does not answer"),
        ({"model_folder": "deepseek-ai/DeepSeek-R1"}, "model_folder", "begins with a slash"),
        ({"max_num_seqs": 0}, "max_num_seqs", "At least one"),
        ({"core_ids": (0, 7)}, "core_ids", "CPU 7"),
        ({"extra_env": {"A B": "1"}}, "extra_env", "not a name"),
        ({"extra_env": {"HF_TOKEN": "1"}}, "extra_env", "secret"),
    ],
)
def test_each_refusal_names_its_field_and_says_why(changes: dict[str, object], field: str, words: str) -> None:
    found = refused(spec(**changes))
    assert words in found.get(field, ""), found


@pytest.mark.parametrize("name", ["smol", "deepseek-ai/DeepSeek-R1", "v1.2_x"])
def test_ordinary_names_pass(name: str) -> None:
    assert refused(spec(served_name=name)) == {}


def test_the_network_may_listen_when_there_is_a_key() -> None:
    assert refused(spec(host="0.0.0.0", api_key=True)) == {}


def test_tensor_parallel_must_divide_what_is_divided() -> None:
    assert tensor_parallel_choices(SMOL) == [1, 3]
    assert tensor_parallel_choices(TINY_MLA) == [1, 2, 4]
    four = Machine(cores=4, memory_available_bytes=16 * GIB)
    ids = (0, 1, 2, 3)
    experts = replace(TINY_MLA, moe_intermediate=66)
    assert (
        "66 columns of each expert" in refused(spec(tensor_parallel=4, core_ids=ids), experts, four)["tensor_parallel"]
    )
    wide = replace(SMOL, intermediate=1537, heads=8, kv_heads=8)
    assert "1537 columns of the feed-forward" in refused(spec(tensor_parallel=2), wide, four)["tensor_parallel"]
    shared = replace(SMOL, heads=12, kv_heads=3)
    assert "3 KV heads" in refused(spec(tensor_parallel=4, core_ids=ids), shared, four)["tensor_parallel"]


def test_more_ranks_than_numa_nodes_need_named_cores() -> None:
    unnamed = spec(tensor_parallel=2, core_ids=())
    assert "NUMA" in refused(unnamed, TINY_MLA)["core_ids"]
    assert refused(unnamed, TINY_MLA, replace(MACHINE, numa_nodes=2)) == {}


def test_kernels_that_do_not_exist_are_refused() -> None:
    assert "256 + 64" in refused(spec(), replace(TINY_MLA, kv_lora_rank=256))["model_folder"]
    assert "size 72" in refused(spec(), replace(SMOL, head_dim=72))["model_folder"]


def test_kv_bytes_follow_the_kind_of_attention() -> None:
    assert kv_bytes_per_token(spec(), SMOL) == 30 * 2 * 3 * 64 * 2
    assert kv_bytes_per_token(spec(dtype="float32"), SMOL) == 30 * 2 * 3 * 64 * 4
    assert kv_bytes_per_token(spec(tensor_parallel=3), SMOL) == 30 * 2 * 1 * 64 * 2
    assert kv_bytes_per_token(spec(tensor_parallel=9), SMOL) == 30 * 2 * 1 * 64 * 2, "copied, not split further"
    one, two = spec(), spec(tensor_parallel=2)
    assert kv_bytes_per_token(one, TINY_MLA) == kv_bytes_per_token(two, TINY_MLA) == 4 * (512 + 64) * 2


def test_weights_are_counted_in_the_chosen_format() -> None:
    assert weight_bytes(spec(), SMOL) == 269_030_016
    assert weight_bytes(spec(dtype="float32"), SMOL) == 2 * 269_030_016


def test_every_rank_takes_its_own_kv_space() -> None:
    tight = replace(MACHINE, memory_available_bytes=8 * GIB)
    assert refused(spec(kv_space_gib=3), TINY_MLA, tight) == {}
    assert "6 GiB of KV cache" in refused(spec(kv_space_gib=3, tensor_parallel=2), TINY_MLA, tight)["kv_space_gib"]


def test_json_round_trip() -> None:
    made = spec(tensor_parallel=2, extra_env={"A": "b"}, api_key=True, max_num_seqs=4)
    assert ServeSpec.from_json(json.loads(json.dumps(made.to_json()))) == made


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"gpu": 1}, "gpu"),
        ({"port": "8000"}, "port"),
        ({"port": True}, "port"),
        ({"api_key": 1}, "api_key"),
        ({"context": 1.5}, "context"),
        ({"core_ids": ["0"]}, "core_ids"),
        ({"core_ids": "0,1"}, "core_ids"),
        ({"extra_env": {"A": 1}}, "extra_env"),
        ({"dtype": None}, "dtype"),
        ({"kv_space_gib": None}, "kv_space_gib"),
    ],
)
def test_json_that_is_wrong_names_the_key(changes: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        ServeSpec.from_json(spec().to_json() | changes)


def test_json_that_lacks_an_entry_names_it() -> None:
    with pytest.raises(InvalidInput, match="served_name"):
        ServeSpec.from_json({"backend": "local_cpu", "model_folder": "/m", "port": 8000})


@given(
    st.builds(
        spec,
        served_name=st.text(max_size=8),
        dtype=st.sampled_from(["bfloat16", "float32", "x"]),
        tensor_parallel=st.integers(-2, 20),
        pipeline_parallel=st.integers(-1, 3),
        context=st.none() | st.integers(-1, 10**7),
        kv_space_gib=st.floats(),
        port=st.integers(-1, 70000),
        core_ids=st.lists(st.integers(-1, 5)).map(tuple),
    )
)
def test_whatever_is_asked_is_judged_and_never_breaks(asked: ServeSpec) -> None:
    for model in (SMOL, TINY_MLA):
        for refusal in refusals(asked, model, MACHINE, LOCAL):
            assert hasattr(asked, refusal.field)
            assert str(refusal.reason).endswith(".")


@given(st.text())
def test_a_name_made_from_any_folder_is_accepted(folder: str) -> None:
    assert "served_name" not in refused(spec(served_name=name_of(folder)[:100]))
