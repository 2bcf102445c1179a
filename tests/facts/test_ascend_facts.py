"""What a host with NPUs answers to each question, read into values."""

import math
from pathlib import Path

import pytest

from console.catalog.ascend import Fit, chip, driver_rule, order
from console.facts.ascend import FACTS
from console.facts.cards import Cards, Ports, parse_cards, parse_ports
from console.facts.dmidecode import Dmi, parse_dmidecode
from console.facts.fact import optional
from console.facts.holders import Containers, Docker, Holder, Holders, parse_containers, parse_docker, parse_holders
from console.facts.nics import Nics, parse_nics
from console.facts.surroundings import (
    Guards,
    Resolvers,
    TimeSync,
    parse_guards,
    parse_proxies,
    parse_resolvers,
    parse_time_sync,
)
from console.facts.trouble import Trouble
from console.facts.tuning import (
    Governors,
    Headers,
    NpuUser,
    Ulimits,
    parse_choice,
    parse_governors,
    parse_headers,
    parse_names,
    parse_npu_user,
    parse_sysctls,
    parse_ulimits,
)
from console.facts.words import ALL_TITLES, in_words
from console.text import render
from tests.checks.composed import host

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "host"
BOX = "0f3c" * 16


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")


def test_cards_are_told_apart_even_where_the_answer_names_none() -> None:
    memory = sample("npu_smi_t_memory_910b")
    found = parse_cards("memory")(f"== card 0\n{memory}\n== card 5\n{memory}\n")
    assert isinstance(found, Cards)
    assert found.each("hbm_total_mb") == {0: (65536,), 5: (65536,)}


def test_one_silent_card_does_not_hide_the_others() -> None:
    found = parse_cards("ecc")(f"== card 0\n{sample('npu_smi_t_ecc_910')}\n== card 1\nThe query timed out.\n")
    assert isinstance(found, Cards)
    assert list(found.answers) == [0]
    assert found.troubles[1].error_kind == "timeout"


@pytest.mark.parametrize("text", ["", "== card 0\n", "dcmi module initialize failed. ret is -8005\n", "== card x\n"])
def test_no_card_at_all_is_trouble(text: str) -> None:
    assert isinstance(parse_cards("health")(text), Trouble)
    assert isinstance(parse_ports(text), Trouble)


def test_ports_gather_the_answers_of_several_commands() -> None:
    words = [sample(name) for name in ("hccn_ip_route_910b", "hccn_link_up", "hccn_net_health_init", "hccn_tls_switch")]
    found = parse_ports("== card 3\n" + "\n".join(words) + "\n== card 4\nPermission denied\n")
    assert isinstance(found, Ports)
    port = found.ports[3]
    assert (port.link, port.healthy, port.tls_enabled) == ("UP", None, False)
    assert (port.ip, found.troubles[4].error_kind) == ("192.0.2.213", "permission_denied")


def test_holders_and_their_containers() -> None:
    text = f"all no\nholder 7 0 {BOX} VLLM Engine\nholder 7 1 {BOX} VLLM Engine\nholder 9 - - \n"
    found = parse_holders(text)
    engine = Holder(7, 0, BOX, "VLLM Engine")
    assert found == Holders((engine, Holder(7, 1, BOX, "VLLM Engine"), Holder(9, None, None, None)), False)
    assert isinstance(parse_holders("awk: not found\n"), Trouble)


def test_docker_and_its_containers() -> None:
    down = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n"
    assert parse_docker("server 26.1.3\ndefault runc\nruntimes ascend runc \n") == Docker(
        "26.1.3", "runc", ("ascend", "runc")
    )
    assert parse_docker("server \n" + down) == Docker(None, None, ())
    assert parse_containers("begin\n" + down) == Containers({})
    assert parse_containers(f"begin\n{BOX} one image:1\n") == Containers({BOX: "one"})
    denied = "begin\npermission denied while trying to connect to the Docker daemon socket\n"
    assert isinstance(found := parse_containers(denied), Trouble)
    assert found.error_kind == "permission_denied"
    assert isinstance(parse_docker(denied), Trouble)


def test_memory_modules_with_error_correction_and_channels() -> None:
    found = parse_dmidecode(sample("dmidecode_memory_kunpeng916"))
    assert isinstance(found, Dmi)
    assert (found.correction, found.wide_dimms, found.channels) == ("None", 2, (("0/0", 1), ("0/1", 1)))
    other = parse_dmidecode("Handle 0x1\nMemory Device\n\tSize: 16 GB\n\tLocator: DIMM 0\n")
    assert isinstance(other, Dmi)
    assert (other.correction, other.wide_dimms, other.channels) == (None, None, ())


def test_interfaces_one_after_the_other() -> None:
    text = sample("ethtool_25g_ice") + "Settings for eth1:\n\tSpeed: Unknown!\n\tLink detected: no\nend\n"
    found = parse_nics(text)
    assert isinstance(found, Nics)
    assert [(one.iface, one.speed_mbps, one.link) for one in found.nics] == [
        ("ens6f0", 25000, True),
        ("eth1", None, False),
    ]
    assert parse_nics("end\n") == Nics(())
    assert isinstance(parse_nics(sample("ethtool_25g_ice")), Trouble)  # the end was cut off


def test_settings_of_the_kernel() -> None:
    assert parse_governors("begin\n     64 performance\n      1 powersave\n") == Governors(
        {"performance": 64, "powersave": 1}
    )
    assert parse_governors("begin\n") == Governors({})
    assert parse_choice("always [madvise] never\n") == "madvise"
    assert parse_sysctls("vm/swappiness=60\nend=0\n") == {"vm/swappiness": 60}
    assert parse_ulimits("n 1024 524288\nl 64 unlimited\n") == Ulimits(1024, 524288, 64, math.inf)
    assert parse_names("begin\ngcc\nmake\n") == {"gcc", "make"}
    headers = parse_headers("running 5.10.0\nheaders /lib/modules/5.10.0/build\nother 5.10.0\nother 5.15.0\n")
    assert headers == Headers("5.10.0", "/lib/modules/5.10.0/build", ("5.15.0",))
    user = parse_npu_user("user p\nuid 1000\ngroups p HwHiAiUser\nowner HwHiAiUser\n")
    assert user == NpuUser("p", 1000, ("p", "HwHiAiUser"), True)


def test_what_surrounds_the_host() -> None:
    chrony = (
        "Reference ID    : C0000201 ()\nSystem time     : 0.000012 seconds slow of NTP time\nLeap status     : Normal\n"
    )
    assert parse_time_sync("begin\nNTP=yes\nNTPSynchronized=yes\n") == TimeSync(True, None)
    assert parse_time_sync("begin\n" + chrony) == TimeSync(True, -0.000012)
    assert parse_time_sync("begin\n" + chrony.replace("Normal", "Not synchronised")) == TimeSync(False, -0.000012)
    assert parse_time_sync("begin\n") == TimeSync(None, None)
    assert parse_proxies("begin\nHTTP_PROXY=http://a:1\nno_proxy=\n") == {"http_proxy": "http://a:1"}
    assert parse_resolvers("# x\nnameserver 192.0.2.1\nsearch a b\n") == Resolvers(("192.0.2.1",), ("a", "b"))
    guards = parse_guards("selinux Enforcing\nfirewall firewalld active\nfirewall ufw inactive\n")
    assert guards == Guards("Enforcing", ("firewalld",))
    assert parse_guards("selinux absent\n") == Guards(None, ())


CUT = [parse_governors, parse_sysctls, parse_ulimits, parse_names, parse_headers, parse_npu_user, parse_time_sync]


@pytest.mark.parametrize("parse", [*CUT, parse_proxies, parse_guards, parse_choice, parse_holders, parse_docker])
@pytest.mark.parametrize("text", ["", "sh: 1: awk: not found\n", "\x00\xff\n"])
def test_what_cannot_be_read_is_trouble(parse: object, text: str) -> None:
    assert callable(parse)
    assert isinstance(parse(text), Trouble)


def test_absent_is_an_answer() -> None:
    assert optional(parse_docker)("absent\n") is None
    assert isinstance(optional(parse_docker)("absent-minded\n"), Trouble)


def test_every_fact_of_a_host_with_npus_has_a_title_and_words() -> None:
    facts = host()
    unspoken = {"wish"}
    assert {fact.name for fact in FACTS} - unspoken == set(ALL_TITLES)
    for name in ALL_TITLES.keys() & facts.values.keys():
        words = render(in_words(name, facts.values[name]), "en")
        assert words.strip()
        assert not any(sign in words for sign in ("(npu=", "Answer(", "frozenset", "VersionFile(")), (name, words)


def test_versions_of_the_vendor_in_their_order() -> None:
    sorted_ = ["24.1.rc1", "24.1.RC2", "24.1.0", "25.0.rc1", "25.0.rc1.1", "25.0.0", "25.2.3", "25.5.1", "26.0.rc1"]
    assert sorted(set(sorted_), key=order) == sorted_
    assert order("8.1.RC1") < order("8.1.0") < order("9.1.0") < order("9.10.0")


@pytest.mark.parametrize(
    ("cann", "driver", "fit"),
    [
        ("9.1.0", "25.5.1", Fit.FITS),
        ("9.1.1", "26.1.1", Fit.FITS),
        ("9.1.0", "25.0.3", Fit.EXCLUDED),
        ("9.2.0", "25.2.0", Fit.EXCLUDED),
        ("9.1.0", "24.1.0", Fit.TOO_OLD),
        ("9.1.0", "26.2.rc1", Fit.UNLISTED),
        ("8.5.1", "26.0.rc1", Fit.UNLISTED),
        ("8.5.2", "26.0.rc1", Fit.FITS),
        ("8.2.rc1", "25.0.rc1.1", Fit.FITS),
        ("8.1.RC1", "23.0.6", Fit.TOO_OLD),
    ],
)
def test_drivers_for_cann(cann: str, driver: str, fit: Fit) -> None:
    rule = driver_rule(cann)
    assert rule
    assert rule.source
    assert rule.fit(driver) is fit


def test_what_the_vendor_never_mapped_has_no_rule() -> None:
    assert driver_rule("8.3.RC1") is None
    assert driver_rule("6.3.RC2") is None


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("910B4", "A2"),
        ("910B4-1", "A2"),
        ("Ascend 910B3", "A2"),
        ("Ascend910", "A3"),
        ("910B", "first"),
        ("310P3vir08", "310P"),
    ],
)
def test_chips_by_the_name_npu_smi_prints(name: str, family: str) -> None:
    found = chip(name)
    assert found
    assert found.family == family
    assert found.source


def test_an_unknown_chip_is_not_guessed() -> None:
    assert [chip(name) for name in ("xxx", "910B9", "910", "")] == [None] * 4
