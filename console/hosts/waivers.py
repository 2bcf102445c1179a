"""Which checks a person has waived on a host, as the console keeps them."""

import time

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from console.checks import CHECKS, Waived
from console.errors import Conflict, InvalidInput, NotFound
from console.masking import mask
from console.records import note, reading, writing
from console.text import say, verbatim
from db import models

LONGEST = 500
"""Characters of a reason; it has to fit into a line of a report."""


def held(host_id: int) -> dict[str, Waived]:
    """The waivers that hold on a host, by name of the check."""
    with reading() as session:
        rows = session.scalars(
            select(models.Waiver).where(models.Waiver.host_id == host_id, models.Waiver.ended.is_(None))
        )
        return {row.check_name: Waived(row.reason, row.name, row.made) for row in rows}


def newest() -> dict[int, float]:
    """When a waiver of each host was last made or ended (Unix seconds)."""
    with reading() as session:
        rows = session.execute(
            select(models.Waiver.host_id, func.max(models.Waiver.made), func.max(models.Waiver.ended)).group_by(
                models.Waiver.host_id
            )
        )
        return {host_id: max(made, ended or 0.0) for host_id, made, ended in rows}


def write(host_id: int, check: str, *, reason: str, name: str, actor: str) -> None:
    """Write a waiver down. InvalidInput without a reason or a name; Conflict while one holds."""
    reason, name = mask(_line(reason)), _line(name)
    if not reason or not name:
        raise InvalidInput(say("A waiver needs a reason and the name of who answers for it."))
    if len(reason) > LONGEST or len(name) > LONGEST:
        raise InvalidInput(say("Reason and name must be shorter than {most} characters.", most=LONGEST))
    with writing() as session:
        if _row(session, host_id, check) is not None:
            raise Conflict(say("“{check}” is waived on this host already.", check=CHECKS[check].title))
        session.add(
            models.Waiver(host_id=host_id, check_name=check, reason=reason, name=name, actor=actor, made=time.time())
        )
        why = say(
            "{check}, waived by {name}: {reason}",
            check=CHECKS[check].title,
            name=verbatim(name),
            reason=verbatim(reason),
        )
        note(session, f"host:{host_id}", "waived", actor=actor, reason=why)


def end(host_id: int, check: str, *, actor: str) -> None:
    """Let the check count again. NotFound when no waiver holds."""
    title = CHECKS[check].title if check in CHECKS else verbatim(check)
    with writing() as session:
        row = _row(session, host_id, check)
        if row is None:
            raise NotFound(say("“{check}” is not waived on this host.", check=title))
        row.ended = time.time()
        note(session, f"host:{host_id}", "waiver ended", was="waived", actor=actor, reason=title)


def _row(session: Session, host_id: int, check: str) -> models.Waiver | None:
    return session.scalar(
        select(models.Waiver).where(
            models.Waiver.host_id == host_id, models.Waiver.check_name == check, models.Waiver.ended.is_(None)
        )
    )


def _line(words: str) -> str:
    return " ".join(words.split())
