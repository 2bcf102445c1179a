"""What Python sees of the simulated cards: the module `torch.npu` of the stand-ins that a rehearsal host installs."""

from __future__ import annotations

import os
import re

from pretend import cards, place

VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
BOXED = "REHEARSAL_NODES"
"""Set inside a simulated container: the chips it was given."""
NO_LIBRARY = "{name}: cannot open shared object file: No such file or directory"


def load_libraries() -> None:
    """ImportError, as the loader says it, where driver or toolkit are not there or not in the environment."""
    if is_boxed():
        return
    toolkit = os.environ.get("ASCEND_HOME_PATH") or os.environ.get("ASCEND_TOOLKIT_HOME") or ""
    if not toolkit or not os.path.exists(f"{toolkit}/lib64/libhccl.so"):  # noqa: PTH110
        raise ImportError(NO_LIBRARY.format(name="libhccl.so"))
    if not place.read("driver").get("driver"):
        raise ImportError(NO_LIBRARY.format(name="libascend_hal.so"))


def load_transformer_library() -> None:
    """The same for NNAL, whose own script names its folder."""
    folder = os.environ.get("ATB_HOME_PATH", "")
    if not is_boxed() and not os.path.exists(f"{folder}/lib/libatb.so"):  # noqa: PTH110
        raise ImportError(NO_LIBRARY.format(name="libatb.so"))


def is_boxed() -> bool:
    """Inside a container, whose image brings toolkit and NNAL."""
    return BOXED in os.environ


def nodes() -> list[int]:
    """Numbers of the chips this process may use, as in /dev/davinci<N>; none when the driver does not work."""
    if cards.trouble():
        return []
    if is_boxed():
        there = [int(number) for number in re.findall(r"\d+", os.environ[BOXED])]
    else:
        there = list(range(sum(len(card["chips"]) for card in place.scenario()["cards"])))
    if VISIBLE not in os.environ:
        return there
    wished: list[int] = []
    for word in os.environ[VISIBLE].split(","):
        if not word.strip().isdecimal() or int(word) >= len(there):
            break  # as for CUDA: what follows a number that does not exist does not count
        wished.append(there[int(word)])
    return wished


def is_available() -> bool:
    return bool(nodes())


def device_count() -> int:
    return len(nodes())


def get_device_name(device: object = 0) -> str:
    chip = place.scenario()["chip"]
    return f"Ascend{chip['name']}"


def mem_get_info(device: int = 0) -> tuple[int, int]:
    """Free and total bytes, as the runtime tells them.

    Of 64 GB cards real logs show 64.0 and 60.97 GiB. The smaller total, without what an idle card holds, is played.
    """
    chip = chips()[int(device)]
    idle = cards.idle(place.scenario())[chip.node].hbm_used_mb
    return (chip.hbm_total_mb - chip.hbm_used_mb) * 2**20, (chip.hbm_total_mb - idle) * 2**20


def chips() -> list[cards.Chip]:
    """The chips this process may use, with the figures of this moment."""
    mine = nodes()
    found = {chip.node: chip for chip in cards.now(place.scenario())}
    return [found[node] for node in mine]


def current_device() -> int:
    return 0


def set_device(device: object) -> None:
    """Nothing is computed, so nothing is chosen."""


def synchronize(device: object = None) -> None:
    """Nothing is computed, so nothing is waited for."""
