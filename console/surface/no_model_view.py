"""What Launch and Models say where the model that is wanted, or any model, is not on a host, and where to get one."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from console.catalog.models import repository
from console.hosts.inventory import Host
from console.serving.labels import label
from console.serving.offering import has_npus
from console.surface.ui import empty, marked, number_in_url, t, words
from console.text import say

LONGEST = 100
THE_MODELS_OWN = ("quantization", "reasoning_parser", "tool_parser", "tokenizer_mode")
"""Fields of ServeSpec that are right for one model and wrong for the next."""


def nothing_to_launch(host: Host) -> None:
    """For Launch, where no model of the host can be served: the small models come with vLLM for a CPU alone."""
    if has_npus(host):
        empty(
            t("No model on this host can be served yet. Get one from a hub, or send one from this machine, on Models."),
            "models.py",
            t("Models"),
            {"host": str(host.id)},
        )
        return
    empty(
        t("No model can be served yet. Install prepares two small ones; Models takes a folder of your own."),
        "install.py",
        t("Install"),
        {"host": str(host.id)},
    )


def nothing_here(host: Host) -> None:
    """For Models, where the host has none: below are the ways to get one."""
    if has_npus(host):
        empty(
            t(
                "No model is here yet. Below, get one from a hub or send one from this machine; or name a folder of "
                "your own."
            )
        )
        return
    empty(
        t("No model is here yet. The installation prepares two small ones; or name a folder of your own below."),
        "install.py",
        t("Install"),
        {"host": str(host.id)},
    )


def not_here(host: Host, asked: str, context: object, *, others: bool) -> None:
    """The model that an address or a paste asks for is not there. others: whether another one can be chosen below."""
    told = [say("There is no model {model} on {host}.", model=_short(asked), host=host.title)]
    users = number_in_url("users")
    if users is not None and isinstance(context, int):
        told.append(say("It was asked for with {context} tokens for each of {users} users.", context=f"{context:,}",
                        users=users))  # fmt: skip
    if others:
        told.append(say("Get it, or choose one below that is there."))
    st.warning(" ".join(marked(one) for one in told), icon=":material/search_off:")
    found = repository(asked)
    st.page_link(
        "models.py",
        label=t("Get {model} onto this host", model=found) if found else t("Get a model onto this host"),
        icon=":material/download:",
        query_params={"host": str(host.id), **({"model": found} if found else {})},
    )


def without_the_models_own(stated: Mapping[str, Any], asked: str) -> dict[str, Any]:
    """Settings for another model than the one they were stated for; what is left out is said."""
    gone = [name for name in THE_MODELS_OWN if name in stated]
    if gone:
        names = ", ".join(words(label(name)) for name in gone)
        told = say("Left out, because it belongs to {model}: {names}.", model=_short(asked), names=names)
        st.warning(marked(told))
    return {name: value for name, value in stated.items() if name not in gone}


def _short(asked: str) -> str:
    return asked if len(asked) <= LONGEST else asked[: LONGEST - 1] + "…"
