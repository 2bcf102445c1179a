"""A data folder in which much has happened: the rows a real pilot leaves, and those of what went wrong."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from console.bench import runs
from console.bench.quick import Request
from console.hosts import observe
from console.hosts.inventory import Host
from console.jobs import jobs, path
from console.jobs.logs import attempt_log, step_log
from console.jobs.states import JobState, StepState
from console.plans.step import Step
from console.records import move, writing
from console.serving import conversations, instances
from console.serving.conversations import Sampling
from console.serving.spec import ServeSpec
from console.serving.state import State, Wish
from console.serving.weights import MARK
from console.text import Text, say, to_json, verbatim
from db import models
from tests.serving.test_weights import CONFIG, safetensors

ME = "ann"
SCRIPT_TAG = "<script>alert('x')</script>"
SAID = (
    "# A heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nprint('$x$')\n```",
    "法国的首都是巴黎。\n\n- 第一\n- 第二",
    "word " * 20_000,
    SCRIPT_TAG + "\n\n</div><img src=x onerror=alert(1)>",
)
"""Answers that a page must bear: Markdown, Chinese, 100,000 characters, HTML."""


def model(folder: Path, *, noise: bool = False, broken: bool = False) -> Path:
    """A folder with a very small model that lacks nothing, or lacks its weights."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    if not broken:
        (folder / "model.safetensors").write_bytes(safetensors("a", "b"))
    if noise:
        (folder / MARK).write_text(json.dumps({"noise": True}))
    return folder


def end(
    job_id: int,
    state: JobState = JobState.SUCCEEDED,
    *,
    failing: int = 0,
    why: Text | None = None,
    log: str = "one line\n",
    question: Text | None = None,
) -> None:
    """Write down how a job went; with `failing` its step of that number failed (or waits) and the later ones wait."""
    now = time.time()
    with writing() as session:
        job = session.get_one(models.Job, job_id)
        for step in job.steps:
            if failing and step.number > failing:
                continue
            step.attempt, step.started = 1, now - 60
            step_log(job_id, step.number, 1).take(log.encode(), ended=True)
            step.state, step.ended, step.code = StepState.OK, now - 50, 0
        if failing:
            step = job.steps[failing - 1]
            step.state, step.code = (StepState.FAILED, 1) if question is None else (StepState.RUNNING, None)
            step.reason, step.ended = None if why is None else to_json(why), None if question is not None else now
        for became in (JobState.RUNNING, state):
            move(
                session,
                job,
                f"job:{job_id}",
                became,
                actor="console",
                reason=why,
                started=now - 60,
                ended=None if state == JobState.WAITING else now,
                question=None if question is None else to_json(question),
            )


def instance(
    host: Host,
    name: str,
    state: State,
    *,
    port: int = 8100,
    noise: bool = False,
    reason: Text | None = None,
    age_s: float = 0,
    attempts: int = 1,
) -> int:
    """A server as the watcher would have written it down `age_s` seconds ago."""
    spec = ServeSpec(
        backend="local_cpu", model_folder=f"{host.work_folder}/models/{name}", served_name=name, port=port, context=512
    )
    number = instances.create(host.id, spec, noise=noise, actor=ME)
    now = time.time()
    with writing() as session:
        row = session.get_one(models.Instance, number)
        row.wish = Wish.up if state in (State.ready, State.starting, State.unwell) else Wish.down
        row.state, row.attempt, row.observed = state, attempts, now - age_s
        row.reason = None if reason is None else to_json(reason)
        if state == State.ready:
            evidence = {"question": "What is 2 + 2?", "answer": "2 + 2 = *4*", "latency_s": 0.4}
            row.health = json.dumps({"evidence": evidence})
        for attempt in range(1, attempts + 1):
            session.add(
                models.Attempt(
                    instance_id=number,
                    number=attempt,
                    actor=ME,
                    command=f"vllm serve {spec.model_folder}",
                    folder=instances.folder(host, number, attempt),
                    started=now - 100,
                    ready=now - 80 if state == State.ready else None,
                    ended=now - 10 if state in (State.failed, State.stopped) else None,
                    code=1 if state == State.failed else None,
                )
            )
    if attempts:
        attempt_log(number, attempts).line(f"INFO {name} was started")
    return number


def conversation(instance_id: int, question: str, answers: Sequence[str], *, cut: bool = False) -> int:
    """A question before each of these answers; `cut` = they were stopped before they were finished."""
    number = conversations.begin(instance_id, Sampling(system="Be brief."), question)
    for answer in answers:
        conversations.add(number, "user", question)
        figures = {
            "model": "smol",
            "ttft_s": 0.12,
            "tokens_per_s": 31.4,
            "total_s": 1.5,
            "prompt_tokens": 7,
            "output_tokens": 42,
            "finish_reason": "length",
            "partial": to_json(say("It was stopped before it was finished.")) if cut else None,
        }
        conversations.add(number, "assistant", answer, "I think …", figures)
    return number


def run(instance_id: int, concurrency: int) -> int:
    """A measurement of six requests."""
    requests = [Request(0.1 * n, 0.05, 2.0, 20, 40) for n in range(1, 7)]
    spec = {"concurrency": concurrency, "requests": 6}
    return runs.keep(instances.instance(instance_id), spec, requests, 12.0, time.time() - 12)


def pilot(host: Host) -> None:
    """The whole path, finished: every job succeeded, and what each observed is there."""
    observe.probe(host, actor=ME)
    folder = Path(path.local_cpu.model_folder(path.target(host), "smollm2"))
    if not folder.exists():
        model(folder)
    job_id = path.start_pilot(host.id, actor=ME)
    end(job_id)
    number = instance(host, "smollm2", State.ready, reason=say("It answers, and its answer was right."))
    steps = [Step("step", say("Start the server"), action="launch", arguments={"instance": number})]
    for kind, subject in (("install", ""), ("start", f"instance:{number}"), ("try", ""), ("measure", "")):
        subject = subject or f"host:{host.id}"
        made = steps if kind == "start" else path.planned(kind, host).steps
        end(jobs.enqueue(kind, subject, host.id, say("Check"), made, actor=ME, journey=job_id))
    conversation(number, "What is the capital of France?", ["Paris."])
    run(number, 1)
    run(number, 4)


def seed(host: Host) -> None:
    """Everything a page may have to show."""
    pilot(host)
    model(Path(host.work_folder) / "models" / "tiny-noise", noise=True)
    model(Path(host.work_folder) / "models" / "no-weights", broken=True)
    failed = path.start("install", host.id, actor=ME)
    why = say("The command ended with exit code {code}.", code=1)
    end(failed, JobState.FAILED, failing=2, why=why, log="第一行\n**bold** `code` [link](http://x) $math$\n")
    ready = instances.named("smollm2").id
    instance(host, "noise", State.ready, noise=True, port=8101, reason=verbatim("It answers *well* [x](y) $z$"))
    instance(host, "broken", State.failed, port=8102, reason=say("The server ended with exit code {code}.", code=1))
    instance(host, "rest", State.stopped, port=8103, attempts=3)
    instance(host, "new", State.stopped, port=8104, attempts=0)
    for question, answer in zip(("# *Markdown*", "法国的首都是哪里?", "long " * 400, SCRIPT_TAG), SAID, strict=True):
        conversation(ready, question, [answer], cut=question.startswith("long"))


def waiting(host: Host) -> int:
    """A job that waits for a person."""
    job_id = path.start("install", host.id, actor=ME)
    question = say("Take {size}?", size="3 GB")
    end(job_id, JobState.WAITING, failing=1, why=question, question=question)
    return job_id


def look_now() -> None:
    """As if the watcher had just looked at everything that is not at rest."""
    with writing() as session:
        for row in session.query(models.Instance):
            row.observed = time.time()
