"""Model folders as people have them: whole, cut off, half copied, pointers only, or something else entirely."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from console.serving.weights import INDEX, ModelFolder, inspect, inspect_model

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 100,
    "max_position_embeddings": 512,
    "torch_dtype": "bfloat16",
}


def safetensors(*tensors: str, numbers: int = 6) -> bytes:
    """A real file: each tensor holds `numbers` bfloat16 values."""
    size = 2 * numbers
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for place, name in enumerate(tensors):
        offsets = [place * size, (place + 1) * size]
        header[name] = {"dtype": "BF16", "shape": [2, numbers // 2], "data_offsets": offsets}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(size * len(tensors))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in one file that lacks nothing."""
    made = tmp_path / "model"
    made.mkdir()
    (made / "config.json").write_text(json.dumps(CONFIG))
    (made / "tokenizer.json").write_text("{}")
    (made / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    (made / "model.safetensors").write_bytes(safetensors("a", "b"))
    return made


@pytest.fixture
def sharded(folder: Path) -> Path:
    """The same in two shards with an index."""
    (folder / "model.safetensors").unlink()
    for number, tensor in enumerate("ab", 1):
        (folder / f"model-0000{number}-of-00002.safetensors").write_bytes(safetensors(tensor))
    holds = {tensor: f"model-0000{number}-of-00002.safetensors" for number, tensor in enumerate("ab", 1)}
    (folder / INDEX).write_text(json.dumps({"weight_map": holds}))
    return folder


def errors(found: ModelFolder) -> list[str]:
    return [str(problem.text) for problem in found.problems if problem.is_error]


def warnings(found: ModelFolder) -> list[str]:
    return [str(problem.text) for problem in found.problems if not problem.is_error]


def changed(folder: Path, **values: object) -> ModelFolder:
    kept = {key: value for key, value in {**CONFIG, **values}.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(kept))
    return inspect_model(str(folder))


def test_a_whole_model_in_one_file(folder: Path) -> None:
    found = inspect_model(str(folder))
    assert (found.problems, found.usable, found.noise) == ((), True, False)
    assert (found.architecture, found.hidden, found.layers, found.heads, found.kv_heads) == (
        "LlamaForCausalLM",
        64,
        2,
        4,
        2,
    )
    assert (found.head_dim, found.intermediate, found.vocab, found.max_context) == (16, 128, 100, 512)
    assert (found.dtype, found.quantization, found.kv_lora_rank) == ("bfloat16", None, None)
    assert found.parameters == 12
    assert found.weight_bytes == (folder / "model.safetensors").stat().st_size


def test_a_whole_model_in_shards(sharded: Path) -> None:
    found = inspect_model(str(sharded))
    assert (found.problems, found.parameters) == ((), 12)


def test_latent_attention_and_experts(folder: Path) -> None:
    found = changed(folder, kv_lora_rank=512, qk_rope_head_dim=64, moe_intermediate_size=32, head_dim=192)
    assert (found.kv_lora_rank, found.qk_rope_head_dim, found.moe_intermediate, found.head_dim) == (512, 64, 32, 192)


def test_the_text_part_of_a_model_with_pictures(folder: Path) -> None:
    figures = {key: CONFIG[key] for key in CONFIG if key != "architectures"}
    nested = {"architectures": ["Pictures"], "text_config": {**figures, "hidden_size": 128}}
    (folder / "config.json").write_text(json.dumps(nested))
    found = inspect_model(str(folder))
    assert (found.architecture, found.hidden, found.usable) == ("Pictures", 128, True)


@pytest.mark.parametrize(
    ("values", "file", "method"),
    [
        ({"quantization_config": {"quant_method": "fp8"}}, "", "fp8"),
        ({"quantization_config": {"bits": 4}}, "", "unknown"),
        ({"quantization_config": {}}, "", None),
        ({"compression_config": {"quant_method": "compressed-tensors"}}, "", "compressed-tensors"),
        ({}, "quant_model_description_w8a8.json", "ascend"),
        ({}, "hf_quant_config.json", "modelopt"),
    ],
)
def test_quantization(folder: Path, values: Mapping[str, object], file: str, method: str | None) -> None:
    if file:
        (folder / file).write_text("{}")
    assert changed(folder, **values).quantization == method


def test_random_weights_are_marked(folder: Path) -> None:
    (folder / "pilot-model.json").write_text('{"noise": true}')
    assert inspect_model(str(folder)).noise


def test_a_shard_that_was_cut_off(sharded: Path) -> None:
    shard = sharded / "model-00002-of-00002.safetensors"
    whole = shard.stat().st_size
    with shard.open("r+b") as file:
        file.truncate(whole - 5)
    (sentence,) = errors(inspect_model(str(sharded)))
    assert shard.name in sentence
    assert f"{whole - 5} bytes" in sentence
    assert str(whole) in sentence


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 64, struct.pack("<Q", 40) + b"not json" * 5])
def test_a_shard_that_is_no_safetensors_file(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    found = inspect_model(str(folder))
    assert "model.safetensors is not a whole safetensors file" in errors(found)[0]
    assert not found.usable


@pytest.mark.parametrize("header", [[], {"a": 3}, {"a": {"shape": [2]}}, {"a": {"shape": [2], "data_offsets": [0]}}])
def test_headers_that_mean_nothing(folder: Path, header: object) -> None:
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    assert not inspect_model(str(folder)).usable


def test_a_missing_shard_by_the_index(sharded: Path) -> None:
    (sharded / "model-00001-of-00002.safetensors").unlink()
    (sentence,) = errors(inspect_model(str(sharded)))
    assert sentence.startswith("1 of 2 shards are missing: model-00001-of-00002.safetensors")


def test_a_missing_shard_by_the_names_alone(sharded: Path) -> None:
    (sharded / INDEX).unlink()
    assert inspect_model(str(sharded)).usable
    (sharded / "model-00002-of-00002.safetensors").unlink()
    (sentence,) = errors(inspect_model(str(sharded)))
    assert sentence.startswith("1 of 2 shards are missing: model-00002-of-00002.safetensors")


def test_shards_of_two_downloads(sharded: Path) -> None:
    (sharded / "model-00002-of-00002.safetensors").write_bytes(safetensors("another"))
    (sentence,) = errors(inspect_model(str(sharded)))
    assert "model-00002-of-00002.safetensors lack tensors" in sentence


@pytest.mark.parametrize("text", ["[]", "{}", "{", '{"weight_map": 3}'])
def test_an_index_that_says_nothing(sharded: Path, text: str) -> None:
    (sharded / INDEX).write_text(text)
    assert INDEX in errors(inspect_model(str(sharded)))[0]


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_pointers_of_git_lfs(folder: Path, name: str) -> None:
    (folder / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n")
    (sentence,) = errors(inspect_model(str(folder)))
    assert sentence.startswith(f"{name} is only a pointer of Git LFS")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"architectures": []}', '{"architectures": ["A"]}'])
def test_a_config_that_does_not_do(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    found = inspect_model(str(folder))
    assert "config.json" in errors(found)[0]
    assert not found.usable


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_what_must_be_there(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert len(errors(inspect_model(str(folder)))) == 1


def test_without_a_chat_template(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text("{}")
    found = inspect_model(str(folder))
    assert found.usable
    assert "no chat template" in warnings(found)[0]
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    assert inspect_model(str(folder)).problems == ()


def test_downloads_that_did_not_end(folder: Path) -> None:
    cache = folder / ".cache" / "huggingface" / "download"
    cache.mkdir(parents=True)
    (cache / "abc.incomplete").touch()
    (folder / "model.safetensors.aria2").touch()
    found = [text.split()[0] for text in warnings(inspect_model(str(folder)))]
    assert found == ["model.safetensors.aria2", "abc.incomplete"]


def test_a_folder_that_is_still_being_made(folder: Path) -> None:
    renamed = folder.rename(folder.with_name("model.part"))
    assert "not finished" in errors(inspect_model(str(renamed)))[0]


@pytest.mark.parametrize(
    ("name", "words"), [("model.gguf", "GGUF"), ("pytorch_model.bin", "PyTorch's own format"), ("", "No weights")]
)
def test_weights_of_other_kinds(folder: Path, name: str, words: str) -> None:
    (folder / "model.safetensors").unlink()
    if name:
        (folder / name).touch()
    assert words in errors(inspect_model(str(folder)))[0]


def test_files_and_places_that_are_no_model(folder: Path, tmp_path: Path) -> None:
    assert "is a file" in errors(inspect_model(str(folder / "config.json")))[0]
    assert "There is no folder" in errors(inspect_model(str(tmp_path / "nowhere")))[0]
    assert not inspect_model(str(tmp_path)).usable


@pytest.mark.parametrize("name", ["模型", "my model"])
def test_unusual_paths_are_possible(folder: Path, name: str) -> None:
    found = inspect_model(str(folder.rename(folder.with_name(name))))
    assert found.usable
    assert len(warnings(found)) == 1


def test_a_line_break_in_a_path(folder: Path) -> None:
    assert "control character" in errors(inspect_model(str(folder.rename(folder.with_name("a\nb")))))[0]


def test_a_link_to_nothing(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(folder / "blob")
    assert any("may not be read: model.safetensors" in text for text in errors(inspect_model(str(folder))))


class Forbidding:
    """A folder far away whose weights another user owns. Satisfies Folder."""

    def __init__(self, files: Mapping[str, bytes], closed: str) -> None:
        self.files, self.closed = files, closed

    def list(self, below: str = "") -> Mapping[str, int]:
        if self.closed == "*":
            raise PermissionError(13, "Permission denied")
        return {} if below else {name: len(content) for name, content in self.files.items()}

    def unreadable(self) -> frozenset[str]:
        return frozenset({self.closed})

    def links(self) -> Mapping[str, str]:
        return {}

    def read(self, name: str, offset: int = 0, length: int = 1 << 20) -> bytes:
        if name == self.closed:
            raise PermissionError(13, "Permission denied")
        return self.files[name][offset : offset + length]


@pytest.mark.parametrize("closed", ["config.json", "tokenizer.json", "model.safetensors", "*"])
def test_permissions(folder: Path, closed: str) -> None:
    files = {each.name: each.read_bytes() for each in folder.iterdir()}
    found = inspect("/far/model", Forbidding(files, closed))
    assert not found.usable
    assert "permissions" in errors(found)[0]
