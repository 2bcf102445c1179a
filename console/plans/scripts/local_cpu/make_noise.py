"""Make a tiny DeepSeek V2 with random weights: the real architecture (MLA, experts), no knowledge at all."""

import importlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

README = """This model is random noise. It was made on this machine, with a fixed seed, to try out MLA attention,
routed experts and tensor parallelism without an accelerator. What it says means nothing; do not judge speed or
quality by it.
"""


def main(tokenizer: str, part: str, settings: str, seed: str) -> None:
    torch: Any = importlib.import_module("torch")
    hf: Any = importlib.import_module("transformers")
    target = Path(part)
    target.mkdir(parents=True)
    words = hf.AutoTokenizer.from_pretrained(tokenizer)
    wished = json.loads(settings)
    if wished["vocab_size"] != len(words):
        sys.exit(f"The tokenizer at {tokenizer} has {len(words)} words, the model is made for {wished['vocab_size']}.")
    marks = {"bos_token_id": words.bos_token_id, "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    torch.manual_seed(int(seed))
    model = hf.DeepseekV2ForCausalLM(hf.DeepseekV2Config(**wished, **marks))
    model.to(torch.bfloat16).save_pretrained(target)
    words.save_pretrained(target)
    (target / "README.md").write_text(README, "utf-8")
    shutil.copy(Path(tokenizer) / "LICENSE", target / "LICENSE.tokenizer")
    print(f"{sum(weights.numel() for weights in model.parameters()) / 1e6:.1f} million random parameters, seed {seed}")


if __name__ == "__main__":
    main(*sys.argv[1:])
