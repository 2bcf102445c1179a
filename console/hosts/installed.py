"""What is installed to run vLLM on a host, by whichever backend: looked at on the host, and kept with its time."""

import getpass
import os
import re
import time

from sqlalchemy import select

from console.facts.probe import Raw
from console.hosts import inventory, kept, observe
from console.hosts.inventory import Host
from console.hosts.observe import Runtime
from console.hosts.reach import Sudo
from console.plans.ascend import NOT_THERE, AsRoot, Options, Source, runtime_script
from console.plans.check_said import check_said
from console.records import reading
from console.text import say, verbatim
from db import models

LIMIT_S = 120.0


def options_of(host: Host, source: Source = Source.FOLDER, packages: str = "") -> Options:
    """How something is installed on this host, by what the inventory says of its user."""
    if host.reach is None:
        root = AsRoot.ROOT if os.geteuid() == 0 else AsRoot.NONE
        return Options(host.work_folder, getpass.getuser(), root, source, packages)
    may = AsRoot.NONE if host.reach.sudo == Sudo.NONE else AsRoot.SUDO
    root = AsRoot.ROOT if host.reach.user == "root" else may
    return Options(host.work_folder, host.reach.user, root, source, packages)


def look(host: Host, backend: str, *, actor: str = "console") -> Runtime:
    """Look on the host whether what `backend` needs is there and as it was installed, and keep the answer."""
    if backend == "local_cpu":
        return observe.look_at_runtime(host, actor=actor)
    began = time.time()
    outcome = inventory.runner(host).run(runtime_script(options_of(host), backend), timeout_s=LIMIT_S)
    raw = Raw(_name(backend), (outcome.out + outcome.err)[-4000:], outcome.code, outcome.seconds)
    kept.keep(host.id, [raw], began, actor=actor)
    return _runtime(raw.text, raw.code, time.time())


def runtime(host: Host, backend: str) -> Runtime | None:
    """The last look; None when nobody has looked yet."""
    if backend == "local_cpu":
        return observe.runtime(host)
    query = (
        select(models.Observation, models.Probe.ended)
        .join(models.Probe, models.Observation.probe_id == models.Probe.id)
        .where(models.Probe.host_id == host.id, models.Observation.name == _name(backend))
    )
    with reading() as session:
        row = session.execute(query.order_by(models.Observation.id.desc()).limit(1)).first()
    return None if row is None else _runtime(row[0].text, row[0].code, row[1])


def stack(host: Host, backend: str) -> str | None:
    """What the last look found: words like "vllm-ascend 0.23.0, CANN 9.1.0, Python 3.12", or the name of an image.

    None when nobody has looked yet, or when it is not complete.
    """
    found = runtime(host, backend)
    if found is None or not found.complete or "stack" not in found.words.values:
        return None
    return str(found.words.values["stack"])


def release(host: Host, backend: str) -> str | None:
    """The release of vllm-ascend in it; None when nothing complete is known to be installed."""
    words = stack(host, backend)
    named = re.search(r"(?:^vllm-ascend |:v)(\d[\w.]*)", words or "")
    return named[1] if named else None


def _name(backend: str) -> str:
    """Under which the look is kept."""
    return f"{kept.RUNTIMES}{backend}"


def _runtime(text: str, code: int | None, seen: float) -> Runtime:
    last = (text.strip().splitlines() or ["-"])[-1]
    if code == 0:
        return Runtime(seen, True, say("{stack}, as it was installed", stack=verbatim(last)))
    if code == NOT_THERE:
        return Runtime(seen, False, say("vLLM is not installed"))
    return Runtime(seen, False, say("vLLM is not installed completely: {why}", why=check_said(last)))
