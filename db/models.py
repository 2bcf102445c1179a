"""The rows: one mapped class per table. Times are Unix seconds, texts are JSON of console.text.Text."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Row(DeclarativeBase):
    pass


class Host(Row):
    __tablename__ = "host"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    kind: Mapped[str]
    work_folder: Mapped[str]
    created: Mapped[float]
    reach: Mapped[str | None]
    tags: Mapped[str] = mapped_column(default="")
    removed: Mapped[float | None]
    scenario: Mapped[str | None]


class Probe(Row):
    """One round of questions to a host; its observations are what the machine printed, unjudged."""

    __tablename__ = "probe"
    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    actor: Mapped[str]
    started: Mapped[float]
    ended: Mapped[float]
    observations: Mapped[list["Observation"]] = relationship(cascade="all, delete-orphan")


class Observation(Row):
    __tablename__ = "observation"
    id: Mapped[int] = mapped_column(primary_key=True)
    probe_id: Mapped[int] = mapped_column(ForeignKey("probe.id"))
    name: Mapped[str]
    text: Mapped[str]
    code: Mapped[int | None]
    seconds: Mapped[float | None]
    timed_out: Mapped[bool]


class Job(Row):
    __tablename__ = "job"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    subject: Mapped[str]
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    title: Mapped[str]
    state: Mapped[str]
    attempt: Mapped[int]
    actor: Mapped[str]
    journey: Mapped[int | None]
    then: Mapped[str]
    created: Mapped[float]
    started: Mapped[float | None]
    ended: Mapped[float | None]
    reason: Mapped[str | None]
    question: Mapped[str | None]
    answer: Mapped[str | None]
    cancel_wanted: Mapped[bool] = mapped_column(default=False)
    steps: Mapped[list["Step"]] = relationship(order_by="Step.number", cascade="all, delete-orphan")


class Step(Row):
    __tablename__ = "step"
    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"))
    number: Mapped[int]
    name: Mapped[str]
    body: Mapped[str]
    state: Mapped[str]
    attempt: Mapped[int]
    started: Mapped[float | None]
    ended: Mapped[float | None]
    code: Mapped[int | None]
    reason: Mapped[str | None]


class Event(Row):
    """One move of one subject ("job:7", "instance:3"): when, who, from, to, why."""

    __tablename__ = "event"
    id: Mapped[int] = mapped_column(primary_key=True)
    time: Mapped[float]
    actor: Mapped[str]
    subject: Mapped[str]
    was: Mapped[str | None]
    became: Mapped[str]
    reason: Mapped[str | None]


class Instance(Row):
    __tablename__ = "instance"
    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    name: Mapped[str]
    backend: Mapped[str]
    spec: Mapped[str]
    noise: Mapped[bool]
    wish: Mapped[str]
    state: Mapped[str]
    reason: Mapped[str | None]
    attempt: Mapped[int]
    health: Mapped[str]
    created: Mapped[float]
    observed: Mapped[float | None]


class Attempt(Row):
    """One start of one instance; its log and exit code stay after the next start."""

    __tablename__ = "attempt"
    instance_id: Mapped[int] = mapped_column(ForeignKey("instance.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    actor: Mapped[str]
    command: Mapped[str]
    folder: Mapped[str]
    started: Mapped[float]
    ready: Mapped[float | None]
    ended: Mapped[float | None]
    code: Mapped[int | None]


class ModelFolder(Row):
    """A folder of weights that a person named; those below the work folder are found without it."""

    __tablename__ = "model_folder"
    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    folder: Mapped[str]
    actor: Mapped[str]
    added: Mapped[float]


class Conversation(Row):
    __tablename__ = "conversation"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    instance_id: Mapped[int | None] = mapped_column(ForeignKey("instance.id"))
    settings: Mapped[str]
    created: Mapped[float]
    updated: Mapped[float]
    messages: Mapped[list["Message"]] = relationship(order_by="Message.id", cascade="all, delete-orphan")


class Message(Row):
    __tablename__ = "message"
    id: Mapped[int] = mapped_column(primary_key=True)
    conversation_id: Mapped[int] = mapped_column(ForeignKey("conversation.id"))
    role: Mapped[str]
    text: Mapped[str]
    reasoning: Mapped[str]
    figures: Mapped[str]
    created: Mapped[float]


class Run(Row):
    """One measurement of one instance: its spec and its raw results."""

    __tablename__ = "run"
    id: Mapped[int] = mapped_column(primary_key=True)
    instance_id: Mapped[int | None] = mapped_column(ForeignKey("instance.id"))
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    kind: Mapped[str]
    model: Mapped[str]
    spec: Mapped[str]
    results: Mapped[str]
    started: Mapped[float]
    ended: Mapped[float]


class Waiver(Row):
    """A person said why a check may stay unpassed on a host; it holds while `ended` is null."""

    __tablename__ = "waiver"
    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    check_name: Mapped[str]
    reason: Mapped[str]
    name: Mapped[str]
    actor: Mapped[str]
    made: Mapped[float]
    ended: Mapped[float | None]


class OwnProfile(Row):
    """A profile that a person copied and edited; `body` is JSON in the form of an entry of profiles.yaml."""

    __tablename__ = "profile"
    id: Mapped[str] = mapped_column(primary_key=True)
    body: Mapped[str]
    actor: Mapped[str]
    made: Mapped[float]
    edited: Mapped[float]


class Command(Row):
    """A command that was sent to a host; the same one sent again by the same person with the same end is counted."""

    __tablename__ = "command"
    id: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("host.id"))
    where: Mapped[str]
    actor: Mapped[str]
    script: Mapped[str]
    times: Mapped[int]
    first: Mapped[float]
    last: Mapped[float]
    code: Mapped[int | None]
    error: Mapped[str | None]
    seconds: Mapped[float]
