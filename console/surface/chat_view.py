"""The playground's parts: choosing, showing a conversation, streaming an answer and keeping it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from console.errors import ConsoleError, NotFound
from console.serving import conversations, launch
from console.serving.client import EngineClient
from console.serving.conversations import Conversation, Sampling
from console.serving.instances import Instance
from console.serving.pump import ticking
from console.serving.reply import Chunk, Reply
from console.serving.request import ChatRequest
from console.serving.transcript import exported, file_name, markdown
from console.surface.ui import attempt, clock, language, marked, number_in_url, span, t, warn_unknown
from console.text import from_json, say

NEW = 0
SILENT_S = 3.0
"""An engine that says nothing for so long gets a line that tells how long."""


def history_choice(number: int | None) -> Conversation | None:
    """The conversation in the address line, chosen from all of them; None = a new one."""
    known = conversations.conversations()
    names = {NEW: t("New conversation"), **{one.id: f"{one.title} · {clock(one.updated)}" for one in known}}
    warn_unknown("conversation", {str(one.id) for one in known}, say("a conversation"))
    current = number if number in names and number is not None else NEW
    if st.session_state.get("talk") != current:
        st.session_state["talk"] = current

    def go() -> None:
        chosen = st.session_state["talk"]
        if chosen:
            st.query_params["conversation"] = str(chosen)
        else:
            st.query_params.pop("conversation", None)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(t("Conversation"), list(names), format_func=names.__getitem__, key="talk", on_change=go)
        if current != NEW:
            st.button(
                t("New conversation"),
                key="new-talk",
                icon=":material/add:",
                on_click=_forget_choice,
            )
    try:
        return conversations.conversation(current) if current else None
    except NotFound:
        return None


def _forget_choice() -> None:
    st.query_params.pop("conversation", None)


def chosen_instance(ready: Sequence[Instance], talk: Conversation | None) -> Instance:
    """The server to talk to: the one in the address line, the one of the conversation, else a sensible one."""
    by_id = {one.id: one for one in sorted(ready, key=lambda one: one.noise)}
    asked = number_in_url("instance")
    wished = next((number for number in (asked, talk.instance_id if talk else None) if number in by_id), None)
    index = list(by_id).index(wished) if wished is not None else 0
    number = st.selectbox(
        t("Server"), list(by_id), index=index, key="talk-instance", format_func=lambda one: by_id[one].name
    )
    return by_id[number]


def sampling_form(talk: Conversation | None) -> Sampling:
    """How answers are drawn; a conversation remembers its own settings."""
    known = talk.sampling if talk is not None else Sampling()
    mark = talk.id if talk is not None else NEW
    with st.popover(t("Settings"), icon=":material/tune:"):
        system = st.text_area(t("System prompt"), known.system, key=f"system-{mark}")
        temperature = st.slider(
            t("Temperature"),
            0.0,
            2.0,
            float(known.temperature),
            0.05,
            key=f"temperature-{mark}",
            help=t("0 gives the same answer each time."),
        )
        top_p = st.slider("top-p", 0.05, 1.0, float(known.top_p), 0.05, key=f"top-p-{mark}")
        most = st.number_input(t("Most tokens of an answer"), 1, 1_000_000, known.max_tokens, key=f"most-{mark}")
        seed = st.number_input(t("Seed (empty: a new one each time)"), 0, 2**31 - 1, known.seed, key=f"seed-{mark}")
        stop = st.text_area(t("Stop sequences, one a line"), "\n".join(known.stop), key=f"stop-{mark}")
    return Sampling(
        system,
        temperature,
        top_p,
        int(most),
        None if seed is None else int(seed),
        tuple(line for line in stop.split("\n") if line),
    )


def present(talk: Conversation) -> None:
    """Every turn, with the figures under each answer."""
    for number, message in enumerate(talk.messages):
        person = message.role == "user"
        with st.chat_message(message.role, avatar=":material/person:" if person else ":material/smart_toy:"):
            if message.reasoning:
                with st.expander(t("Thoughts"), key=f"thoughts-{message.id}"):
                    st.markdown(message.reasoning)
            st.markdown(message.text)
            if not person:
                st.caption(figures_line(message.figures))
                if number == len(talk.messages) - 1:
                    st.button(
                        t("Answer again"),
                        key="again",
                        icon=":material/refresh:",
                        type="tertiary",
                        on_click=lambda: st.session_state.update(regenerate=talk.id),
                    )
    if talk.messages and talk.messages[-1].role == "user":
        st.button(
            t("Answer this"),
            key="again",
            icon=":material/refresh:",
            on_click=lambda: st.session_state.update(regenerate=talk.id),
        )


def figures_line(known: Mapping[str, Any]) -> str:
    """Time to first token, rate, counts and why the answer ended; what is not known is left out."""
    if not known:
        return ""
    parts = []
    if known.get("ttft_s") is not None:
        parts.append(t("first token after {ms} ms", ms=round(known["ttft_s"] * 1000)))
    if known.get("tokens_per_s") is not None:
        parts.append(t("{rate} tokens/s", rate=f"{known['tokens_per_s']:.1f}"))
    if known.get("output_tokens") is not None:
        parts.append(
            t(
                "{prompt} prompt + {answer} answer tokens",
                prompt=known.get("prompt_tokens") or "?",
                answer=known["output_tokens"],
            )
        )
    if known.get("total_s") is not None:
        total = known["total_s"]
        whole = t("{ms} ms", ms=round(total * 1000)) if total < 1 else span(total)
        parts.append(t("{span} in all", span=whole))
    if known.get("finish_reason") == "length":
        parts.append(t("cut at the most tokens allowed"))
    if known.get("partial"):
        parts.append(t("not whole: {why}", why=marked(from_json(str(known["partial"])))))
    return " · ".join([*parts, str(known.get("model") or "")]).strip(" ·")


def answer_now(one: Instance, conversation_id: int, sampling: Sampling, *, again: bool = False) -> None:
    """Stream an answer onto the page; whatever arrived is kept, also when it is stopped or breaks off.

    With `again` it takes the place of the last answer, which stays when nothing arrives.
    """
    talk = conversations.conversation(conversation_id)
    if again and talk.messages[-1:] and talk.messages[-1].role == "assistant":
        talk = replace(talk, messages=talk.messages[:-1])
    request = request_of(one, talk, sampling)
    with (
        st.chat_message("assistant", avatar=":material/smart_toy:"),
        EngineClient(f"http://{one.address}", launch.api_key(one)) as client,
    ):
        stream = client.chat_stream(**asdict(request))
        chunks = ticking(stream)
        try:
            st.write_stream(_texts(chunks, st.empty()))
        except ConsoleError as error:
            st.session_state["error"] = error.text
        finally:
            chunks.close()  # hangs up at once; then nobody else reads from the stream
            stream.close()
            _keep(conversation_id, stream.reply, again=again)
    st.rerun()


def _texts(chunks: Iterator[Chunk | None], above: DeltaGenerator) -> Iterator[str]:
    """The words as they come. While none come the wait is shown: where something is drawn, Stop is heeded."""
    came = time.monotonic()
    for chunk in chunks:
        silent = time.monotonic() - came
        if chunk is not None:
            if silent >= SILENT_S:
                above.empty()
            came = time.monotonic()
            yield chunk.text
        elif silent >= SILENT_S:
            above.caption(t("Nothing came for {span}.", span=span(silent)))
        else:
            above.empty()


def _keep(conversation_id: int, reply: Reply, *, again: bool) -> None:
    if reply.text or reply.reasoning or reply.finish_reason:
        if again:
            conversations.drop_last_answer(conversation_id)
        conversations.add(conversation_id, "assistant", reply.text, reply.reasoning, conversations.figures(reply))


def request_of(one: Instance, talk: Conversation | None, sampling: Sampling) -> ChatRequest:
    """What would be sent next: the system prompt and every turn so far."""
    turns = [{"role": "system", "content": sampling.system}] if sampling.system.strip() else []
    turns += [{"role": message.role, "content": message.text} for message in (talk.messages if talk else [])]
    return ChatRequest(
        one.spec.served_name,
        turns,
        sampling.temperature,
        sampling.top_p,
        sampling.max_tokens,
        sampling.seed,
        sampling.stop,
    )


def conversation_menu(talk: Conversation, model: str) -> None:
    """Rename, export, delete."""
    with st.popover(t("Rename, export, delete"), icon=":material/more_horiz:"):
        st.text_input(t("Name"), talk.title, key=f"name-{talk.id}")
        st.button(t("Rename"), key="rename-talk", on_click=_rename, args=(talk.id,))
        text = markdown(talk.title, model, talk.messages, talk.created, language())
        st.download_button(
            t("Export as Markdown"),
            text,
            file_name=file_name(talk.title, "md"),
            mime="text/markdown",
            on_click="ignore",
        )
        data = exported(talk.title, model, talk.messages, talk.created, asdict(talk.sampling))
        st.download_button(
            t("Export as JSON"),
            data,
            file_name=file_name(talk.title, "json"),
            mime="application/json",
            on_click="ignore",
        )
        sure = st.checkbox(t("I want to delete this conversation"), key=f"sure-{talk.id}")
        st.button(
            t("Delete"),
            key="delete-talk",
            disabled=not sure,
            on_click=_delete,
            args=(talk.id,),
            help=None if sure else t("Tick the box first; it cannot be brought back."),
        )


def _rename(conversation_id: int) -> None:
    """To what stands in the field now: a click may come before the page has run with the name just typed."""
    attempt(conversations.rename, conversation_id, st.session_state[f"name-{conversation_id}"])


def _delete(conversation_id: int) -> None:
    attempt(conversations.delete, conversation_id)
    st.query_params.pop("conversation", None)
