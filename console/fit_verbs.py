"""What `pilot fit` takes; the calculator is only loaded when it is asked."""

import argparse
import math

from console.terminal import t


def options(one: argparse.ArgumentParser) -> None:
    """The arguments of the verb."""
    one.add_argument("model", nargs="?", default="", metavar=t("MODEL"), help=t("a name of the catalog, or a folder"))
    one.add_argument("--chip", help=t("the chip as npu-smi names it, such as 910B4"))
    one.add_argument("--cards", type=int, help=t("how many cards (default 2)"))
    one.add_argument("--quantization", help=t("none, w8a8, w4a8 ...; also fp8 or awq, to hear why not"))
    one.add_argument("--context", type=_tokens, help=t("tokens of prompt and answer together (default 8192)"))
    one.add_argument("--concurrency", type=int, help=t("users at the same time (default 1)"))
    for name, about in (
        ("--tp", t("tensor parallel size (default: the best)")),
        ("--pp", t("pipeline parallel size")),
        ("--dp", t("data parallel size")),
    ):
        one.add_argument(name, type=int, help=about)
    one.add_argument("--ep", action="store_true", help=t("spread the experts over all ranks"))
    one.add_argument("--release", help=t("release of vllm-ascend (default 0.23.0)"))
    one.add_argument("--hbm-total", type=_number, metavar="GIB", help=t("memory of one card, as npu-smi shows it"))
    one.add_argument("--hbm-free", type=_number, metavar="GIB", help=t("what is free of it (default: an idle card)"))
    one.add_argument("--utilization", type=_number, help=t("share of the memory that vLLM may use"))
    one.add_argument("--batched-tokens", type=_tokens, help=t("tokens computed at once (default 2048)"))
    one.add_argument("--eager", action="store_true", help=t("without captured graphs"))
    one.add_argument("--kv-bits", type=int, choices=(8, 16), help=t("bits of a number in the cache"))
    one.add_argument("--table", action="store_true", help=t("cards x quantization x context, with the reasons"))
    one.add_argument("--recipes", action="store_true", help=t("settings for two cards that can be taken as they are"))


def show(chosen: argparse.Namespace) -> int:
    """0 it fits, 1 it does not, 2 wrong input."""
    from console.fit_told import tell

    return tell(chosen)


def _number(words: str) -> float:
    """Python also reads "nan" and "inf", which are no sizes of anything."""
    try:
        found = float(words)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(t("{words} is not a number", words=words))
    return found


def _tokens(words: str) -> int:
    """A number of tokens as people write it, and as vLLM reads it: 16384, 16k, 16K."""
    from console.catalog.parsers import number_of_tokens

    try:
        return number_of_tokens(words)
    except ValueError:
        raise argparse.ArgumentTypeError(t("{words} is not a number", words=words)) from None
