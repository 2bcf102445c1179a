"""The checklist of one host: what changed, every check by area with its evidence, and what a person may decide."""

import functools
from collections.abc import Mapping, Sequence
from html import escape
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from console.checks import Judged
from console.checks.report import STANDINGS, by_area, waiver_words
from console.hosts import compared, exported, observe, own_profiles, waiving
from console.hosts.inventory import Host
from console.hosts.observe import Checked
from console.jobs import history, path
from console.surface.calm_table import MISSING, Cell, Head, calm_table
from console.surface.hosts_view import chosen_host
from console.surface.standing_view import tally
from console.surface.ui import ago, attempt, clock, empty, language, mark, marked, show_error, t, who, words

SHOWN = 4000
"""Characters of an output that are shown at first."""
KINDS = ("check", path.RECHECK)
TONES: Mapping[str, str] = {"fail": "bad", "warn": "warn", "unknown": "quiet", "waived": "quiet"}


def at_work(host: Host) -> set[int]:
    """The jobs that ask this host now."""
    return {job.id for job in history.jobs(50, host_id=host.id, active_only=True) if job.kind in KINDS}


def one_host() -> None:
    """The whole checklist of the host in the address line; it follows a check that runs."""
    columns = st.columns(2)
    with columns[0]:
        host = chosen_host()
    with columns[1]:
        profile = chosen_profile(observe.profiles_of(host))
    busy = at_work(host)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            t("Check now"),
            key="check-now",
            type="primary",
            icon=":material/refresh:",
            on_click=attempt,
            args=(path.start, "check", host.id),
            kwargs={"actor": who()},
        )
        if busy:
            st.page_link("job.py", label=t("The check runs"), query_params={"job": str(min(busy))})

    @st.fragment(run_every=1.0 if busy else 30.0)
    def results() -> None:
        if at_work(host) != busy:
            st.rerun()
        show_error()
        _failed_to_ask(host)
        checked = observe.judged(host, profile)
        if checked is not None:
            _results(host, checked)
        elif host.reach is None:
            empty(t("This machine has not been checked yet. “Check now” asks it; it takes about a second."))
        else:
            empty(t("{host} has not been checked yet. “Check now” asks it.", host=host.label))

    results()


def chosen_profile(known: Sequence[str]) -> str:
    """What the host is compared with, kept in the address line; asked only where there is a choice."""
    if len(known) == 1:
        return known[0]
    profiles, asked = own_profiles.profiles(), st.query_params.get("profile")
    st.session_state["profile"] = asked if asked in known else known[0]

    def go() -> None:
        st.query_params["profile"] = str(st.session_state["profile"])

    return st.selectbox(
        t("Compare with"),
        known,
        key="profile",
        on_change=go,
        format_func=lambda one: profiles[one].title_in(language()),
    )


def _failed_to_ask(host: Host) -> None:
    """Why the last question to the host came to nothing, if no answer came since."""
    seen = observe.latest(host)
    answered = max((seen.time, *seen.times.values())) if seen else 0.0
    for kind in KINDS:
        job = history.latest(kind, host.id)
        asked = job and next((step for step in job.steps if step.step.action == "probe"), None)
        if job and asked and asked.state == "failed" and (asked.ended or 0) > answered:
            st.error(marked(job.reason), icon=":material/link_off:")


def _results(host: Host, checked: Checked) -> None:
    st.markdown(
        f"{tally(one.standing for one in checked.judged)} · {t('asked about itself {ago}', ago=ago(checked.time))}"
    )
    _changes(host, checked)
    only = st.toggle(t("Hide what passed"), key="only-bad", bind="query-params")
    for area, judged in by_area(checked.judged):
        mine = [one for one in judged if not (only and one.passed)]
        if mine:
            with st.container(key=f"area-{mine[0].area}", gap="xsmall"):
                st.markdown(f"**{words(area)}**")
                for one in mine:
                    check_line(host, one, checked)
    _downloads(host, checked)


def _changes(host: Host, checked: Checked) -> None:
    """What the last look brought to light, old and new."""
    changes = compared.changes(host, checked)
    if changes is None:
        return
    if not changes.found:
        st.caption(t("Nothing has changed since the check before, {ago}.", ago=ago(changes.since)))
        return
    label = t("Changed since the check before, {ago}: {count}", ago=ago(changes.since), count=len(changes.found))
    with st.expander(label, key="changes", expanded=True):
        rows = [[Cell(words(one.either.title)), verdict_cell(one.was), verdict_cell(one.now)] for one in changes.found]
        calm_table(
            "changes", [Head(t("Check"), text=True), Head(t("was"), text=True), Head(t("is now"), text=True)], rows
        )


def verdict_cell(one: Judged | None) -> Cell:
    """How a check stands and what was seen, for a table; a dash where it was not judged."""
    if one is None:
        return Cell(MISSING, "quiet")
    shape, word = STANDINGS[one.standing]
    return Cell(f"{shape} {words(word)} · {words(one.verdict.seen)}", TONES.get(one.standing, ""))


def check_line(host: Host, one: Judged, checked: Checked) -> None:
    """One check: its line tells the level and what was seen, inside is everything else."""
    verdict = one.verdict
    waiver = waiver_words(one, clock(one.waiver.made)[:16]) if one.waiver else None
    label = f"{mark(one.standing)} · **{words(one.title)}** · {marked(verdict.seen)}"
    if waiver is not None:
        label += f" · {marked(waiver)}"
    with st.expander(label, key=f"check-{one.name}", expanded=one.failed):
        rows = [(t("Seen"), words(verdict.seen)), (t("Wanted"), words(verdict.wanted)), (t("Why"), words(one.why))]
        if verdict.fix is not None and not one.passed:
            rows.append((t("How to fix it"), words(verdict.fix)))
        if waiver is not None:
            rows.append((t("Waiver"), words(waiver)))
        again = [when for name in one.facts if (when := checked.seen.times.get(name))]
        if again:
            rows.append((t("Asked again"), ago(max(again))))
        with st.container(key=f"details-{one.name}"):
            st.html(
                "<dl>" + "".join(f"<dt>{escape(head)}</dt><dd>{escape(text)}</dd>" for head, text in rows) + "</dl>"
            )
        if verdict.fix_command and not one.passed:
            st.code(verdict.fix_command, language="bash")
        _decide(host, one, checked.profile.id)
        if st.toggle(t("Show what the host printed"), key=f"evidence-{one.name}"):
            _evidence(one, checked)


def _decide(host: Host, one: Judged, profile: str) -> None:
    """Ask this one again; waive it, or end that."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            t("Ask again"),
            key=f"again-{one.name}",
            help=t("Asks the host only what this check needs."),
            on_click=attempt,
            args=(path.ask_again, one.name, host.id),
            kwargs={"actor": who()},
        )
        if one.waiver is not None:
            st.button(
                t("End the waiver"),
                key=f"end-waiver-{one.name}",
                on_click=attempt,
                args=(waiving.end, host, one.name),
                kwargs={"actor": who()},
            )
        elif not one.passed:
            with st.popover(t("Waive")):
                _waiver_form(host, one.name, profile)


def _waiver_form(host: Host, check: str, profile: str) -> None:
    st.caption(t("A waived check does not count against the host. It never shows as a pass, and reports name it."))
    with st.form(f"waive-{check}", border=False, enter_to_submit=False):
        st.text_input(t("Reason"), key=f"reason-{check}", max_chars=500)
        st.text_input(t("Name of who answers for it"), key=f"name-{check}", value=who(), max_chars=80)
        st.form_submit_button(t("Waive"), key=f"waive-now-{check}", on_click=_waive, args=(host, check, profile))


def _waive(host: Host, check: str, profile: str) -> None:
    given = {part: str(st.session_state[f"{part}-{check}"]) for part in ("reason", "name")}
    attempt(waiving.waive, host, check, actor=who(), profile=profile, **given)


def _evidence(one: Judged, checked: Checked) -> None:
    """What the verdict rests on: raw, with its age where it is older than the rest, and whole if wished."""
    if one.verdict.evidence:
        st.code("\n".join(one.verdict.evidence), language=None)
    newest = max((checked.seen.asked(name) for name in one.facts), default=checked.time)
    for name in one.facts:
        raw = checked.raws.get(name)
        if raw is None:
            continue
        asked = checked.seen.asked(name)
        st.caption(
            t("evidence: {name}", name=name)
            if asked == newest
            else t("evidence: {name}, asked {ago}", name=name, ago=ago(asked))
        )
        whole = len(raw.text) <= SHOWN or st.toggle(
            t("Show all {count} characters; these are the first {shown}", count=len(raw.text), shown=SHOWN),
            key=f"whole-{one.name}-{name}",
        )
        st.code((raw.text if whole else raw.text[:SHOWN]) or t("(it printed nothing)"), language=None)


def _downloads(host: Host, checked: Checked) -> None:
    """The checklist as a file for a mail, in the reader's language and zone."""
    try:
        zone = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")
    report, chosen = exported.report(host, checked, zone), language()
    with st.container(horizontal=True, vertical_alignment="center", key="downloads"):
        st.caption(t("This checklist as a file, with fixes and waivers"))
        for form, label in (("html", "HTML"), ("md", "Markdown"), ("json", "JSON")):
            st.download_button(
                label,
                functools.partial(exported.document, [report], form, chosen),
                file_name=f"check-{host.name}-{clock(checked.time)[:10]}.{form}",
                key=f"download-{form}",
                icon=":material/download:",
                on_click="ignore",
            )
    address, icon = {"host": str(host.id)}, ":material/arrow_forward:"
    st.page_link("install.py", label=t("Go on to Install"), query_params=address, icon=icon)
