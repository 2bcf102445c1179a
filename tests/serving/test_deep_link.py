"""A half-filled form in an address: what it may say, and that nothing in it does harm."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.serving import deep_link
from console.serving.asked import DEFAULTS, ServeSpec

SPEC = ServeSpec(
    backend="ascend_docker",
    model_folder="/models/Qwen3-32B-W8A8",
    served_name="qwen",
    port=8001,
    dtype="auto",
    tensor_parallel=2,
    context=32768,
    utilization=0.91,
    device_ids=(0, 1),
    prefix_caching=False,
    api_key=True,
    extra_env={"HCCL_BUFFSIZE": "1024"},
    extra_args=("--seed", "1"),
)
WORDS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["1", "-1", "1e9", "true", "nan", "inf", "0x10", "١٢", "999999999999", "99999999999999", "a b", ""]
    ),
)


def test_a_spec_comes_back_from_its_own_address() -> None:
    read = deep_link.read(deep_link.written(SPEC))
    assert read.left == ()
    back = replace(SPEC, **{name: DEFAULTS[name] for name in deep_link.READ})
    assert replace(back, **read.fields) == SPEC  # type: ignore[arg-type]


def test_an_address_never_carries_what_it_must_not_decide() -> None:
    told = str(deep_link.written(SPEC))
    assert "HCCL" not in told
    assert "--seed" not in told
    for name in ("extra_env", "extra_args", "image", "mounts", "network", "host", "trust_remote_code", "lora_modules",
                 "additional_config", "speculative", "compilation"):  # fmt: skip
        assert name not in deep_link.READ


def test_every_part_is_a_field() -> None:
    assert set(deep_link.READ) <= {one.name for one in fields(ServeSpec)}


@given(st.dictionaries(st.one_of(st.sampled_from([*deep_link.PARTS, "for", "model"]), st.text(max_size=20)), WORDS))
def test_whatever_stands_there_is_read_or_named(address: dict[str, str]) -> None:
    """What is read could be stored as a spec; all the rest is said, part by part."""
    read = deep_link.read(address)
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in read.fields.items()}
    first = {"backend": "x", "model_folder": "/x", "served_name": "x", "port": 1}
    ServeSpec.from_json({**first, **plain})
    judged = [name for name in address if name not in deep_link.OTHERS]
    wrong_purpose = address.get("for", "") not in ("", "few", "many", "long")
    assert len(read.fields) + len(read.left) == len(judged) + wrong_purpose
    assert all(len(str(one)) < 400 for one in read.left)


@pytest.mark.parametrize(
    ("name", "word"),
    [("context", "-1"), ("context", "9" * 13), ("utilization", "nan"), ("api-key", "sk-123"), ("device-ids", "0,x")],
)
def test_what_cannot_be_is_left_out_with_a_sentence(name: str, word: str) -> None:
    read = deep_link.read({name: word})
    assert read.fields == {}
    assert name in str(read.left[0])
    assert "left out" in str(read.left[0])
