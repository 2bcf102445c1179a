"""Widgets for the settings of a server: each says what it means, what the engine does without it, who knows it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.serving.asked import Refusal, ServeSpec
from console.serving.moved import moved
from console.serving.offered import Offered, offered
from console.serving.options import UNSET
from console.surface.ui import language, t
from console.text import Text

MOST = 1 << 40
"""More than an address can say, so that a number from there is shown as it was and refused with its reason."""
ENGINE = ""
"""The choice that leaves a setting to the engine."""


@dataclass
class Form:
    """The settings of `draft` as widgets. mark: another beginning has other widgets.

    wrong: what cannot be read; said: what the draft has and a widget cannot show, so that it begins with another value
    """

    draft: ServeSpec
    mark: str
    wrong: list[Refusal] = field(default_factory=list)
    said: list[Text] = field(default_factory=list)

    def offer(self, name: str) -> Offered | None:
        """None = the release does not take it, so it is not shown."""
        return offered(self.draft.release).get(name)

    def key(self, name: str) -> str:
        return f"{name}-{self.mark}"

    def within(self, name: str, value: float, least: float, most: float) -> float:
        """The value, or the nearest one that a widget takes, which is then said."""
        now = min(max(value, least), most)
        if now != value:
            self.said.append(moved(name, value, now, least, most))
        return now


def help_of(one: Offered) -> str:
    """What an option means, its peculiarity on Ascend, what holds without it, and the releases that know it."""
    said = [] if one.about is None else [one.about.text[language()]]
    if one.about is not None and one.about.note is not None:
        said.append(one.about.note[language()])
    default = UNSET[one.field] if one.option.default is None else one.option.default
    if default not in (None, "", (), {}):
        said.append(t("Without it: {value}.", value=str(default)))
    if one.until is None:
        said.append(t("`{flag}`, known since vllm-ascend {since}.", flag=one.flag, since=one.since or "?"))
    else:
        said.append(
            t("`{flag}`, known from vllm-ascend {since} to {until}.", flag=one.flag, since=one.since or "?",
              until=one.until)
        )  # fmt: skip
    return " ".join(said)


def number(form: Form, place: Any, name: str, label: str, least: int = 1, most: int = MOST) -> dict[str, int | None]:
    """A whole number; empty where the setting may be left to the engine."""
    if (one := form.offer(name)) is None:
        return {}
    value = getattr(form.draft, name)
    first = None if value is None else int(form.within(name, int(value), least, most))
    found = place.number_input(
        label, least, most, first, 1, key=form.key(name), help=help_of(one), placeholder=t("the engine decides")
    )
    return {name: None if found is None else int(found)}


def share(form: Form, place: Any, name: str, label: str) -> dict[str, float | None]:
    """A share from 0.01 to 1; empty where the engine decides."""
    if (one := form.offer(name)) is None:
        return {}
    value = getattr(form.draft, name)
    first = None if value is None else float(form.within(name, float(value), 0.01, 1.0))
    found = place.number_input(
        label, 0.01, 1.0, first, 0.01, key=form.key(name), help=help_of(one), placeholder=t("the engine decides")
    )
    return {name: None if found is None else float(found) if found == first else round(float(found), 4)}


def switch(form: Form, place: Any, name: str, label: str) -> dict[str, bool]:
    """On or off, where off is how it is without the option."""
    if (one := form.offer(name)) is None:
        return {}
    return {name: place.toggle(label, getattr(form.draft, name), key=form.key(name), help=help_of(one))}


def maybe(form: Form, place: Any, name: str, label: str) -> dict[str, bool | None]:
    """On, off, or left to the engine; off is offered where the release has a word for it, or shown if it was given."""
    if (one := form.offer(name)) is None:
        return {}
    value = getattr(form.draft, name)
    choices: list[bool | None] = [None, True, *([False] if one.can_be_off or value is False else [])]
    words = {None: t("the engine decides"), True: t("on"), False: t("off")}
    picked = place.selectbox(
        label,
        choices,
        choices.index(value),
        key=form.key(name),
        help=help_of(one),
        format_func=words.__getitem__,
    )
    return {name: picked}


def word(
    form: Form, place: Any, name: str, label: str, names: Sequence[str], unset: Callable[[], str]
) -> dict[str, str]:
    """One of these names, or none of them; a name that came from elsewhere stays, so that its refusal is seen."""
    if (one := form.offer(name)) is None:
        return {}
    picked = pick(place, label, getattr(form.draft, name), names, unset, form.key(name), help_of(one))
    return {name: picked}


def pick(
    place: Any, label: str, value: str, names: Sequence[str], unset: Callable[[], str], key: str, told: str
) -> str:
    """A choice of words, the first of which leaves it to the engine."""
    choices = list(dict.fromkeys([ENGINE, *names, *([value] if value else [])]))
    return str(
        place.selectbox(
            label, choices, choices.index(value), key=key, help=told, format_func=lambda each: each or unset()
        )
    )
