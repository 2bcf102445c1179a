"""The checklist as a document: complete, in both languages, and deaf to what hosts and people put into it."""

import json
import re
from dataclasses import replace
from datetime import timedelta, timezone
from html.parser import HTMLParser

import pytest

from console.catalog.profiles import profile
from console.checks import Waived, judge
from console.checks.own import edited
from console.checks.report import Report, escaped, markdown, plain, worst
from console.checks.report_html import html
from console.facts.probe import split
from console.text import render, verbatim
from tests.checks.composed import host

WHEN = 1796083200.0
HOSTILE = (
    "</td><script>alert('x')</script> | **bold** [a](http://evil.example) `code` <img src=x onerror=y> & \n# not a head"
)
BAD = {"libc": "glibc 2.20\n", "governors": "begin\n    128 powersave\n", "docker": "absent\n"}
BEIJING = timezone(timedelta(hours=8))


def report(seen: str = "", waived: dict[str, Waived] | None = None, **changes: str) -> Report:
    """A host that fails, warns and passes; with `seen`, one check has seen just this."""
    one = profile("ascend-two-cards")
    judged = judge(host(**{**BAD, **changes}), one, waived)
    if seen:
        first = replace(judged[0].verdict, level="fail", seen=verbatim(seen), fix=verbatim(seen), fix_command=seen)
        judged[0] = replace(judged[0], verdict=first)
    return Report(seen or "gpu1", "ops@192.0.2.7:22", WHEN, one, judged, {}, BEIJING)


class Outline(HTMLParser):
    """Tags, their addresses, and the words between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_check_stands_in_every_form_with_all_there_is_to_say(language: str) -> None:
    one = report(waived={"cpu_governor": Waived("set at boot", "Ann Lee", WHEN)})
    page, text = Outline(html([one], language)).words, markdown([one], language).replace("\\", "")
    told = plain(one, language)
    assert [each["name"] for each in told["checks"]] == [each.name for each in one.judged]  # type: ignore[attr-defined]
    for judged in one.judged:
        sentences = [judged.title, judged.verdict.seen, judged.verdict.wanted, judged.why]
        if not judged.passed and judged.verdict.fix is not None:
            sentences.append(judged.verdict.fix)
        for sentence in sentences:
            shown = render(sentence, language)
            assert shown in page
            assert " ".join(shown.split()).replace("\\", "") in text
    for document in (page, text):
        assert "Ann Lee" in document
        assert "set at boot" in document
        assert "2026-12-01 08:00 UTC+0800" in document


def test_hostile_words_stay_words_in_html() -> None:
    shown = Outline(html([report(HOSTILE)], "en"))
    assert HOSTILE in shown.words
    assert not {"script", "img", "a", "link", "iframe"} & set(shown.tags)
    assert not [name for name, _ in shown.attributes if name.startswith("on") or name in ("src", "href")]
    assert "default-src 'none'" in html([report()], "en")


def test_an_html_report_asks_nobody_for_anything() -> None:
    text = html([report()], "zh")
    assert re.findall(r"url\(|@import|https?://", text) == []
    assert '<html lang="zh-CN">' in text


def test_hostile_words_stay_words_in_markdown() -> None:
    text = markdown([report(HOSTILE)], "en")
    outside = re.sub(r"^(`{3,})sh\n.*?\n\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "<script" not in outside.replace("\\<", "")
    assert not re.search(r"(?<!\\)(\*\*bold|\[a\]|`code`)", outside)
    assert "\n# not a head" not in outside
    assert all(line.count("|") - line.count("\\|") in (0, 3) for line in outside.splitlines()), "cells stay cells"


def test_a_command_cannot_leave_its_block() -> None:
    text = markdown([report("echo ```\n````\n# out")], "en")
    assert re.search(r"^`````sh\necho ```\n````\n# out\n`````$", text, re.MULTILINE)


def test_whatever_is_escaped_reads_the_same() -> None:
    assert re.sub(r"\\(.)", r"\1", escaped(HOSTILE)) == " ".join(HOSTILE.split())


def test_what_markdown_leaves_alone_stays_readable() -> None:
    assert (
        escaped("ops@127.0.0.1:22, npu_smi -l (2 of 3) + 10.5 GiB!")
        == "ops\\@127.0.0.1:22, npu_smi -l (2 of 3) + 10.5 GiB!"
    )
    assert escaped("_a_ http://x www.x ![i]") == "\\_a\\_ http\\://x www\\.x \\!\\[i\\]"


def test_a_waived_check_is_counted_apart_and_is_no_pass() -> None:
    before = report()
    failing = [one.name for one in before.judged if one.failed]
    assert (worst(before.judged), bool(failing)) == ("fail", True)
    after = report(waived={name: Waived("known", "ann", WHEN) for name in failing})
    counts = after.counts()
    assert (counts["waived"], counts.get("fail"), counts["pass"]) == (len(failing), None, before.counts()["pass"])
    only = replace(after, judged=[one for one in after.judged if one.standing in ("waived", "pass")])
    assert worst(only.judged) == "waived"
    told = {one["name"]: one for one in plain(after)["checks"]}  # type: ignore[attr-defined]
    assert (told[failing[0]]["level"], told[failing[0]]["standing"]) == ("fail", "waived")
    assert told[failing[0]]["waiver"] == {"name": "ann", "reason": "known", "made": WHEN, "needed": True}


def test_a_waiver_that_is_not_needed_any_more_says_so() -> None:
    one = report(waived={"architecture": Waived("odd board", "ann", WHEN)})
    judged = next(each for each in one.judged if each.name == "architecture")
    assert (judged.standing, judged.passed) == ("pass", True)
    assert "no longer needed" in html([one], "en")
    assert one.counts().get("waived") is None


def test_a_limit_of_ones_own_is_named_with_the_usual_one() -> None:
    mine = edited(replace(profile("ascend-two-cards"), based_on="ascend-two-cards", id="m"), limits={"cores": 8})
    one = replace(report(), profile=mine)
    assert "CPU cores: 8, usually 16" in Outline(html([one], "en")).words


def test_an_answer_that_is_newer_or_older_than_the_probe_tells_its_time() -> None:
    judged = next(one for one in report().judged if one.name == "cards_free")
    one = replace(report(), judged=[judged], times={"npu_holders": WHEN + 3600})
    assert "Oldest answer" in html([one], "en")
    one = replace(one, times=dict.fromkeys(judged.facts, WHEN + 3600))
    assert "Asked again at" in html([one], "en")
    assert plain(one)["checks"][0]["asked"] == WHEN + 3600  # type: ignore[index]


def test_json_is_json_with_whatever_is_in_it() -> None:
    told = json.loads(json.dumps(plain(report(HOSTILE)), ensure_ascii=False))
    assert told["host"] == HOSTILE
    assert told["checks"][0]["seen"] == HOSTILE


def test_what_was_masked_when_it_was_stored_stays_masked() -> None:
    token = "0123456789abcdef"
    asked = "begin\nhttp_proxy=http://me:hunter22@proxy:3128"
    end = "code=0 began=1 ended=2 late=0 limit=5 bytes=60"
    raws = split(f"@@{token} begin proxies@@\n{asked}\n@@{token} end proxies {end}@@\n", token)
    one = report(proxies=raws["proxies"].text)
    for text in (html([one], "en"), markdown([one], "en").replace("\\", ""), json.dumps(plain(one))):
        assert "hunter22" not in text
        assert "me:********@proxy:3128" in text
