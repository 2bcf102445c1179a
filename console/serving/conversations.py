"""What was said in the playground: kept until a person deletes it."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from sqlalchemy import select

from console.errors import InvalidInput, NotFound
from console.records import reading, writing
from console.serving.reply import Reply, timing
from console.text import say, to_json
from db import models

TITLE_LENGTH = 60


@dataclass(frozen=True)
class Sampling:
    """How answers are drawn. `seed` None = a new one each time; `stop` = strings that end an answer."""

    system: str = ""
    temperature: float = 0.7
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int | None = None
    stop: tuple[str, ...] = ()

    @staticmethod
    def from_json(stored: Mapping[str, object]) -> "Sampling":
        known = {name: stored[name] for name in Sampling.__dataclass_fields__ if name in stored}
        stop = known.get("stop", ())
        return Sampling(**{**known, "stop": tuple(stop) if isinstance(stop, list | tuple) else ()})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Message:
    """One turn. `figures` are the raw instants and counts of an answer; empty for what a person typed."""

    id: int
    role: str
    text: str
    reasoning: str
    figures: Mapping[str, object]
    created: float


@dataclass(frozen=True)
class Conversation:
    id: int
    title: str
    instance_id: int | None
    sampling: Sampling
    created: float
    updated: float
    messages: list[Message] = field(default_factory=list)


def conversations() -> list[Conversation]:
    """All of them without their messages, the latest first."""
    with reading() as session:
        query = select(models.Conversation).order_by(models.Conversation.updated.desc())
        return [_conversation(row, with_messages=False) for row in session.scalars(query)]


def conversation(conversation_id: int) -> Conversation:
    """One with its messages."""
    with reading() as session:
        row = session.get(models.Conversation, conversation_id)
        if row is None:
            raise NotFound(say("This conversation does not exist (any more)."))
        return _conversation(row, with_messages=True)


def begin(instance_id: int | None, sampling: Sampling, first_words: str) -> int:
    """A new conversation, named after its first words."""
    title = " ".join(first_words.split())[:TITLE_LENGTH]
    now = time.time()
    with writing() as session:
        row = models.Conversation(
            title=title, instance_id=instance_id, settings=json.dumps(asdict(sampling)), created=now, updated=now
        )
        session.add(row)
        session.flush()
        return row.id


def add(
    conversation_id: int,
    role: str,
    text: str,
    reasoning: str = "",
    figures: Mapping[str, object] | None = None,
) -> int:
    """Keep one turn."""
    with writing() as session:
        row = _row(session.get(models.Conversation, conversation_id))
        message = models.Message(
            conversation_id=row.id,
            role=role,
            text=text,
            reasoning=reasoning,
            figures=json.dumps(figures or {}),
            created=time.time(),
        )
        session.add(message)
        row.updated = time.time()
        session.flush()
        return message.id


def drop_last_answer(conversation_id: int) -> None:
    """Take back the answer at the end, to have it written again; a question at the end stays."""
    with writing() as session:
        row = _row(session.get(models.Conversation, conversation_id))
        if row.messages and row.messages[-1].role == "assistant":
            row.messages.pop()


def keep_sampling(conversation_id: int, instance_id: int | None, sampling: Sampling) -> None:
    """Remember with which settings the conversation goes on."""
    with writing() as session:
        row = _row(session.get(models.Conversation, conversation_id))
        row.settings, row.instance_id = json.dumps(asdict(sampling)), instance_id


def rename(conversation_id: int, title: str) -> None:
    if not title.strip():
        raise InvalidInput(say("A conversation needs a name."))
    with writing() as session:
        _row(session.get(models.Conversation, conversation_id)).title = title.strip()[:200]


def delete(conversation_id: int) -> None:
    """Forget a conversation and all of its messages; one that is gone already is fine."""
    with writing() as session:
        row = session.get(models.Conversation, conversation_id)
        if row is not None:
            session.delete(row)


def last_answer(host_id: int) -> Message | None:
    """The latest whole answer that a model on this host gave in any conversation."""
    query = (
        select(models.Message)
        .join(models.Conversation)
        .join(models.Instance, models.Conversation.instance_id == models.Instance.id)
        .where(models.Message.role == "assistant", models.Instance.host_id == host_id)
        .order_by(models.Message.id.desc())
        .limit(20)
    )
    with reading() as session:
        answers = [_message(row) for row in session.scalars(query)]
    return next((one for one in answers if one.figures.get("partial") is None), None)


def figures(reply: Reply) -> dict[str, object]:
    """The figures of an answer as they are kept beside it; seconds and tokens."""
    known = timing(reply)
    return {
        "model": reply.model,
        "ttft_s": known.ttft_s,
        "tokens_per_s": known.tokens_per_s,
        "total_s": known.total_s,
        "prompt_tokens": reply.prompt_tokens,
        "output_tokens": reply.output_tokens,
        "finish_reason": reply.finish_reason,
        "partial": None if reply.partial is None else to_json(reply.partial),
    }


def _row(row: models.Conversation | None) -> models.Conversation:
    if row is None:
        raise NotFound(say("This conversation does not exist (any more)."))
    return row


def _conversation(row: models.Conversation, *, with_messages: bool) -> Conversation:
    turns = [_message(message) for message in row.messages] if with_messages else []
    return Conversation(
        row.id,
        row.title,
        row.instance_id,
        Sampling.from_json(json.loads(row.settings)),
        row.created,
        row.updated,
        turns,
    )


def _message(row: models.Message) -> Message:
    return Message(row.id, row.role, row.text, row.reasoning, json.loads(row.figures), row.created)
