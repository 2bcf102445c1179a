"""How to reach a host, as typed, as stored, and as refused."""

import pytest

from console.errors import InvalidInput
from console.hosts.reach import Jump, Reach, Sudo, from_json, jumps, key_path

WHOLE = Reach(
    "gpu1.example.org",
    2222,
    "ops",
    "/keys/id",
    False,
    (Jump("10.0.0.1", 22, "me"), Jump("fe80::1", 23, "you")),
    Sudo.NOPASSWD,
)


@pytest.mark.parametrize("reach", [Reach("10.0.0.5"), WHOLE, Reach("::1"), Reach("主机".encode("idna").decode())])
def test_what_is_stored_comes_back(reach: Reach) -> None:
    assert from_json(reach.to_json()) == reach


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("me@gate:2222", "me@gate:2222"),
        ("gate", "ops@gate:22"),
        ("me@[fe80::1]:23", "me@[fe80::1]:23"),
        ("[::1]", "ops@[::1]:22"),
        ("me@corp@gate", "me@corp@gate:22"),
    ],
)
def test_a_jump_host_as_people_type_it(typed: str, expected: str) -> None:
    assert [str(one) for one in jumps([typed], "ops")] == [expected]


def test_several_jump_hosts_keep_their_order() -> None:
    assert [one.address for one in jumps(["a, b", "c"], "ops")] == ["a", "b", "c"]
    assert [str(one) for one in WHOLE.hops] == ["me@10.0.0.1:22", "you@[fe80::1]:23", "ops@gpu1.example.org:2222"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": ""},
        {"address": "a b"},
        {"address": "-oProxyCommand=x"},
        {"address": "me@host"},
        {"address": "host\nother"},
        {"address": "a", "port": 0},
        {"address": "a", "port": 65536},
        {"address": "a", "user": ""},
        {"address": "a", "user": "-l"},
        {"address": "a", "user": "a b"},
        {"address": "a", "key_file": "id_ed25519"},
        {"address": "a", "jumps": tuple(Jump("b", 22, "c") for _ in range(6))},
    ],
)
def test_what_cannot_work_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Reach(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("typed", ["gate:port", "gate:", "a:b:c", "me@", "gate:99999", "-x@gate"])
def test_what_is_no_jump_host_is_refused(typed: str) -> None:
    with pytest.raises(InvalidInput):
        jumps([typed], "ops")


@pytest.mark.parametrize(
    "stored", ["", "[]", "null", "{}", '{"address": "a", "port": "x"}', '{"address": "a", "jumps": [1]}']
)
def test_what_is_stored_wrong_is_refused(stored: str) -> None:
    with pytest.raises(InvalidInput):
        from_json(stored)


def test_the_home_folder_in_a_key_path_is_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ops")
    assert (key_path(" ~/.ssh/id "), key_path(" ")) == ("/home/ops/.ssh/id", "")
