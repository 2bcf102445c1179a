"""The rarer settings of a server on NPUs: adapters, keys of the plugin, environment, other options, its container."""

import json
import re
import shlex
from dataclasses import replace
from typing import Any

import streamlit as st

from console.catalog import flags, parsers
from console.serving.asked import Refusal
from console.serving.backends.ascend_docker import SHM_GIB, image_of
from console.serving.options import FIELDS
from console.surface.option_widgets import Form, help_of
from console.surface.ui import language, t
from console.text import say


def adapters(form: Form) -> dict[str, Any]:
    """LoRA adapters, one a line."""
    one = form.offer("lora_modules")
    if one is None:
        return {}
    typed = st.text_area(
        t("LoRA adapters, one a line, each as name=folder"), "\n".join(form.draft.lora_modules), height=68,
        key=form.key("lora"), help=help_of(one),
    )  # fmt: skip
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    form.wrong.extend(
        Refusal("lora_modules", say("“{line}” is not a name, an equals sign and a folder.", line=line))
        for line in lines
        if not all(line.partition("="))
    )
    return {"lora_modules": tuple(lines)}


def plugin(form: Form) -> dict[str, Any]:
    """Keys of additional-config that the release reads, environment, and options that have no field of their own."""
    return {**_config(form), **_environment(form), **_more(form)}


def _config(form: Form) -> dict[str, Any]:
    one = form.offer("additional_config")
    if one is None:
        return {}
    known, given = parsers.plugin(form.draft.release).config, form.draft.additional_config
    names = sorted({*known, *given})
    chosen = st.multiselect(
        t("Settings of the Ascend plugin"), names, list(given), key=form.key("config"), help=help_of(one),
        placeholder=t("choose a key that this release reads"),
    )  # fmt: skip
    about = flags.flags().config
    made: dict[str, Any] = {}
    for name in chosen:
        default = None if name not in known else known[name].default or known[name].keys or known[name].default
        typed = st.text_input(
            name,
            _json(given.get(name, default)),
            key=form.key(f"config-{name}"),
            help=about[name].text[language()] if name in about else t("A value as JSON, such as true, 2 or a group."),
        )
        made[name] = _value(form, name, typed)
    return {"additional_config": made}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(form: Form, name: str, typed: str) -> object:
    try:
        return json.loads(typed)
    except ValueError:
        why = say("The value of {name} is not JSON: {value}", name=name, value=typed)
        form.wrong.append(Refusal("additional_config", why, say('Write words in double quotes, such as "all".')))
        return typed


def _environment(form: Form) -> dict[str, Any]:
    first = "\n".join(f"{name}={value}" for name, value in form.draft.extra_env.items())
    typed = st.text_area(
        t("Environment, one NAME=value a line"), first, height=68, key=form.key("env"),
        help=t("It is stored and shown, so no secrets: those have the API key for it."),
    )  # fmt: skip
    made = {}
    for line in typed.splitlines():
        name, is_pair, value = line.strip().partition("=")
        if is_pair:
            made[name.strip()] = value.strip()
        elif name:
            form.wrong.append(Refusal("extra_env", say("“{line}” is not NAME=value.", line=name)))
    return {"extra_env": made}


def _more(form: Form) -> dict[str, Any]:
    release = form.draft.release
    by_name, own = parsers.parser_of(release).by_name, set(FIELDS.values())
    known = [name for name in flags.flags().options if name in by_name and name not in own]
    typed = st.text_input(
        t("Other options, as on a command line"),
        shlex.join(form.draft.extra_args),
        key=form.key("others"),
        help=t("Every option of this release may stand here. Those with a meaning known here: {names}.",
               names=", ".join(f"`{one}`" for one in known)),
    )  # fmt: skip
    try:
        return {"extra_args": tuple(shlex.split(typed))}
    except ValueError:
        form.wrong.append(Refusal("extra_args", say("A quotation mark in the other options is not closed.")))
        return {}


def container(form: Form) -> dict[str, Any]:
    """Image, shared memory, network and folders of the container."""
    draft = form.draft
    columns = st.columns([3, 1, 2], vertical_alignment="bottom")
    image = columns[0].text_input(
        t("Image"), draft.image or image_of(draft), key=form.key("image"), help=t("It must be on the host already.")
    )
    first = int(form.within("shm_gib", SHM_GIB if draft.shm_gib is None else draft.shm_gib, 1, 4096))
    shm = columns[1].number_input(t("Shared memory (GiB)"), 1, 4096, first, key=form.key("shm"))
    network = columns[2].toggle(
        t("Use the network of the host"), draft.network == "host", key=form.key("network"),
        help=t("Without it only the port of the server is reachable. Servers that span hosts need it."),
    )  # fmt: skip
    mounts = st.text_area(
        t("More folders, one a line, as /on/the/host:/in/the/container:ro"), "\n".join(draft.mounts), height=68,
        key=form.key("mounts"),
    )  # fmt: skip
    own = image.strip()
    _judge_image(form, own)
    return {
        "image": "" if own == image_of(replace(draft, image="")) else own,
        "shm_gib": None if int(shm) == SHM_GIB and draft.shm_gib is None else int(shm),
        "network": "host" if network else "",
        "mounts": tuple(line.strip() for line in mounts.splitlines() if line.strip()),
    }


def _judge_image(form: Form, image: str) -> None:
    """Settings are those of one release; an image of another would read them its own way."""
    named = re.search(r":v(\d+(?:\.\d+)*(?:rc\d+|\.post\d+)?)", image)
    if named is not None and parsers.nearest(named[1]) != form.draft.release:
        why = say("This image is of vllm-ascend {other}, and the settings here are those of {release}.",
                  other=named[1], release=form.draft.release)  # fmt: skip
        form.wrong.append(Refusal("image", why, say("Install it on the Install page first, then come back.")))
