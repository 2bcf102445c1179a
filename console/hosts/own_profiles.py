"""Profiles that persons copied and edited, beside the built-in ones."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from console.catalog.profiles import PROFILES, Limit, Profile, from_entry
from console.checks import CHECKS, own
from console.errors import Conflict, InvalidInput, NotFound
from console.records import note, reading, writing
from console.text import Text, say, verbatim
from db import models


def profiles() -> dict[str, Profile]:
    """All by id, the built-in ones first."""
    with reading() as session:
        rows = list(session.scalars(select(models.OwnProfile).order_by(models.OwnProfile.made)))
    return {**PROFILES, **{row.id: _profile(row.body) for row in rows}}


def find(profile_id: str) -> Profile:
    """The profile with this id. NotFound names those there are."""
    if profile_id in PROFILES:
        return PROFILES[profile_id]
    with reading() as session:
        row = session.get(models.OwnProfile, profile_id)
    if row is not None:
        return _profile(row.body)
    names = ", ".join(profiles())
    raise NotFound(say("There is no profile {id}. There are: {names}.", id=verbatim(profile_id), names=verbatim(names)))


def copy(profile_id: str, title: str, *, actor: str) -> Profile:
    """A profile of one's own with the checks and limits of another; its id is made of the title."""
    source = find(profile_id)
    name = own.named(title)
    made = replace(
        source,
        id=own.id_for(name),
        title={"en": name, "zh": name},
        based_on=source.origin,
    )
    if made.id in PROFILES:
        raise Conflict(_taken(made.id))
    now = time.time()
    try:
        with writing() as session:
            row = models.OwnProfile(id=made.id, body=_body(made), actor=actor, made=now, edited=now)
            session.add(row)
            note(session, f"profile:{made.id}", "created", actor=actor, reason=verbatim(name))
    except IntegrityError as error:
        raise Conflict(_taken(made.id)) from error
    return made


def change(
    profile_id: str,
    *,
    actor: str,
    title: str | None = None,
    checks: Sequence[str] | None = None,
    limits: Mapping[str, object] | None = None,
) -> Profile:
    """Change what is given and leave the rest. InvalidInput for a value that cannot be, and for a built-in profile."""
    with writing() as session:
        row = _own(session.get(models.OwnProfile, profile_id), profile_id)
        changed = own.edited(_profile(row.body), title=title, checks=checks, limits=limits or {})
        if _body(changed) != row.body:
            row.body, row.edited = _body(changed), time.time()
            note(session, f"profile:{profile_id}", "edited", actor=actor)
    return changed


def remove(profile_id: str, *, actor: str) -> None:
    """Forget a profile of one's own; what hosts said stays, since it was never judged for good."""
    with writing() as session:
        row = _own(session.get(models.OwnProfile, profile_id), profile_id)
        session.delete(row)
        note(session, f"profile:{profile_id}", "deleted", actor=actor)


def _own(row: models.OwnProfile | None, profile_id: str) -> models.OwnProfile:
    if profile_id in PROFILES:
        raise InvalidInput(say("{id} is a built-in profile. Copy it, then edit the copy.", id=profile_id))
    if row is None:
        raise NotFound(say("There is no profile of your own named {id}.", id=verbatim(profile_id)))
    return row


def _taken(profile_id: str) -> Text:
    return say("There is a profile {id} already. Choose another name.", id=verbatim(profile_id))


def _body(one: Profile) -> str:
    return json.dumps(one.entry(), ensure_ascii=False)


def _profile(body: str) -> Profile:
    """As it was stored, with limits that newer checks need and without checks that are no more."""
    stored = from_entry(json.loads(body))
    origin = PROFILES.get(stored.based_on)
    missing: Mapping[str, Limit] = {} if origin is None else origin.limits
    checks = tuple(name for name in stored.checks if name in CHECKS)
    return replace(stored, checks=checks, limits={**missing, **stored.limits})
