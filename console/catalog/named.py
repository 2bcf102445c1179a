"""What a person names of the catalog and what it has nothing of: refused, with the names that there are."""

from console.catalog.knowledge import known
from console.errors import NotFound
from console.text import say


def release_named(words: str) -> str:
    """A release of vllm-ascend, with or without the v in front. Raises NotFound with those the catalog knows."""
    wanted = words.strip().lower().removeprefix("v")
    if known().row(wanted) is None:
        names = ", ".join(one.vllm_ascend for one in known().rows)
        raise NotFound(
            say(
                "The catalog has no release '{release}' of vllm-ascend. There are: {names}.",
                release=words,
                names=names,
            )
        )
    return wanted
