"""What the console itself does as a step of a job. Each may run again after a killed worker, so each is idempotent."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from console.bench import runs
from console.bench.quick import measure
from console.errors import EngineError, InvalidInput
from console.hosts import installed, inventory, observe
from console.jobs import history, stacks, ways
from console.jobs.asking import ask
from console.jobs.bringing import see_model
from console.jobs.bundling import push_bundle
from console.jobs.logs import Log
from console.jobs.restart import restart_host
from console.jobs.weights_fetching import list_weights, look_at_weights
from console.jobs.weights_pushing import push_model
from console.plans.step import Step
from console.serving import conversations, instances, launch
from console.serving.client import EngineClient
from console.serving.state import State, Wish
from console.text import Text, say

if TYPE_CHECKING:
    from console.jobs.carry import Carry

TICK_S = 0.3
OLD_S = 30.0
"""Seconds after which the answers of a host are asked for again before they are judged in a job."""
FIRST_QUESTION = "What is the capital of France?"


def _probe(carry: "Carry", step: Step, log: Log) -> None:
    host = inventory.host(carry.host_id)
    only = step.arguments.get("check")
    for raw in observe.probe(host, actor="console", check=None if only is None else str(only)).values():
        log.line(f"{raw.name}: exit code {raw.code}, {raw.seconds} s" + (", time limit" if raw.timed_out else ""))


def _judge(carry: "Carry", step: Step, log: Log) -> None:
    """Fails with the names of the checks that fail; asks anew when the last answers are old, as after a resume.

    On the pilot path what counts is what the pilot of this host needs; a check alone is that of the Checklist.
    """
    host = inventory.host(carry.host_id)
    seen = observe.latest(host)
    if seen is None or time.time() - seen.time > OLD_S:
        _probe(carry, step, log)
    checked = observe.judged(host, _profile(carry, host))
    judged = checked.judged if checked is not None else []
    for one in judged:
        log.line(f"{one.standing:8} {one.title}: {one.verdict.seen}")
    failed = [one for one in judged if one.failed]
    if failed:
        places = ", ".join(f"{{c{number}}}" for number in range(len(failed)))
        raise InvalidInput(
            say(
                "Checks that failed: {names}. The Checklist says how to fix each; then resume this job, which asks the "
                "host again, or skip this step with a reason.",
                names=Text(places, {f"c{number}": one.title for number, one in enumerate(failed)}),
            )
        )


def _profile(carry: "Carry", host: inventory.Host) -> str | None:
    """What this check compares with; a person is asked where that decides how the pilot computes."""
    job = history.job(carry.job_id)
    if not job.then:
        return None
    question = ways.way_of(host).question
    if question is not None and ask(carry, question) == "yes":
        ways.choose_cpu(host.id, actor=job.actor)
    return ways.way_of(host).profile


def _look_at_runtime(carry: "Carry", step: Step, log: Log) -> None:
    """Look at what was installed; for NPUs also keep that the pilot of this host computes on them."""
    host = inventory.host(carry.host_id)
    backend = str(step.arguments.get("backend", ways.way_of(host).backend))
    found = installed.look(host, backend)
    log.line(str(found.words))
    if not found.complete:
        raise InvalidInput(found.words)
    if "release" in step.arguments:
        stacks.choose(host, stacks.wish_of(step.arguments), actor=_actor(carry))
        _probe(carry, step, log)  # what was seen of driver and CANN is from before


def _look_at_what_is_left(carry: "Carry", step: Step, log: Log) -> None:
    """After a removal: nothing that was seen before it is told as if it still stood there."""
    host = inventory.host(carry.host_id)
    for backend in stacks.ROUTES:
        log.line(f"{backend}: {installed.look(host, backend).words}")
    _probe(carry, step, log)


def _launch(carry: "Carry", step: Step, log: Log) -> None:
    launch.launch(_instance(step), actor=_actor(carry), say_line=log.line)


def _await_ready(carry: "Carry", step: Step, log: Log) -> None:
    """Until the instance is ready; its own sentence when it fails, is unwell for good, or somebody stops it."""
    told = ""
    begun = time.monotonic()
    while True:
        one = instances.instance(_instance(step))
        if one.reason is not None and (words := str(one.reason)) != told:
            log.line(f"{one.state}: {words}")
            told = words
        if one.state == State.ready:
            return
        carry.wanted()  # before its end is read as somebody else's doing: who cancels this job ends the server too
        settled = one.state == State.unwell and one.health.get("phase") == "the sanity question was answered badly"
        gone = one.state == State.lost and "ended" in one.health
        if one.state in (State.failed, State.stopped) or settled or gone:
            raise EngineError(one.reason or say("It was stopped."))
        if one.wish == Wish.down:
            raise EngineError(say("Somebody stopped it meanwhile."))
        if time.monotonic() - begun > step.timeout_s:
            raise EngineError(
                say("It did not get ready within {limit} s; its log may say why.", limit=round(step.timeout_s))
            )
        time.sleep(TICK_S)


def _await_stopped(carry: "Carry", step: Step, log: Log) -> None:
    instances.wish_down(_instance(step), actor=_actor(carry))
    begun = time.monotonic()
    while instances.instance(_instance(step)).state != State.stopped:
        if time.monotonic() - begun > step.timeout_s:
            raise EngineError(say("It did not stop within {limit} s.", limit=round(step.timeout_s)))
        carry.wanted()
        time.sleep(TICK_S)


def _ask(carry: "Carry", step: Step, log: Log) -> None:
    one = _ready_on(carry)
    sampling = conversations.Sampling(temperature=0, max_tokens=64)
    with EngineClient(f"http://{one.address}", launch.api_key(one)) as client:
        stream = client.chat_stream(
            one.spec.served_name, [{"role": "user", "content": FIRST_QUESTION}], temperature=0, max_tokens=64
        )
        for _ in stream:
            pass
        reply = stream.reply
    log.line(f"> {FIRST_QUESTION}\n{reply.text}")
    if reply.partial is not None:
        raise EngineError(reply.partial)
    number = conversations.begin(one.id, sampling, FIRST_QUESTION)
    conversations.add(number, "user", FIRST_QUESTION)
    conversations.add(number, "assistant", reply.text, reply.reasoning, conversations.figures(reply))


def _measure(carry: "Carry", step: Step, log: Log) -> None:
    one = _ready_on(carry)
    concurrency, count = int(str(step.arguments["concurrency"])), int(str(step.arguments["requests"]))
    begun = time.time()
    requests, wall_s = measure(
        one.address,
        one.spec.served_name,
        concurrency=concurrency,
        requests=count,
        api_key=launch.api_key(one),
        done=lambda done, all_: log.line(f"{done}/{all_}"),
    )
    number = runs.keep(one, {"concurrency": concurrency, "requests": count}, requests, wall_s, begun)
    log.line(f"run {number}: {sum(each.output_tokens for each in requests) / wall_s:.1f} tokens/s")


def _ready_on(carry: "Carry") -> instances.Instance:
    """The instance of this host to talk to: ready, and not random noise where there is a choice."""
    ready = [one for one in instances.instances() if one.host_id == carry.host_id and one.state == State.ready]
    if not ready:
        raise EngineError(say("No instance on this host is ready. Start one on the Instances page, then resume this."))
    return min(ready, key=lambda one: one.noise)


def _instance(step: Step) -> int:
    return int(str(step.arguments["instance"]))


def _actor(carry: "Carry") -> str:
    return history.job(carry.job_id).actor


ACTIONS: Mapping[str, Callable[["Carry", Step, Log], None]] = {
    "probe": _probe,
    "judge": _judge,
    "look_at_runtime": _look_at_runtime,
    "look_at_what_is_left": _look_at_what_is_left,
    "launch": _launch,
    "await_ready": _await_ready,
    "await_stopped": _await_stopped,
    "ask": _ask,
    "measure": _measure,
    "push_bundle": push_bundle,
    "see_model": see_model,
    "restart_host": restart_host,
    "push_model": push_model,
    "list_weights": list_weights,
    "look_at_weights": look_at_weights,
}
"""By the name that stands in `Step.action`."""
