"""The simulated `docker` refuses what the real one refuses, with its sentence and its exit code."""

import socket
import sys
from pathlib import Path

import pytest

from tests.scripts.rehearsed import FAKE, Host, why_not

sys.path.insert(0, str(FAKE))
from pretend import docker_ports, templates  # type: ignore[import-not-found]

inside = pytest.mark.skipif(bool(why_not()), reason=why_not())
IMAGE = "quay.io/ascend/vllm-ascend:v0.23.0"
REFUSALS = (
    ("docker run --async-engine IMAGE", 125, "unknown flag: --async-engine"),
    ("docker run -Z IMAGE", 125, "unknown shorthand flag: 'Z' in -Z"),
    ("docker run", 1, '"docker run" requires at least 1 argument.'),
    ("docker run IMAGE --name", 127, 'exec: "--name": executable file not found in $PATH'),
    ("docker run --name", 125, "flag needs an argument: --name"),
    ("docker run --name 'a b' IMAGE true", 125, "Invalid container name (a b)"),
    ("docker run --name one IMAGE true", 125, 'Conflict. The container name "/one" is already in use by container "'),
    ("docker run --rm --restart always IMAGE", 125, "cannot specify both --restart and --rm"),
    ("docker run --shm-size much IMAGE", 125, "invalid size: 'much'"),
    ("docker run --env-file /none IMAGE", 125, "docker: open /none: no such file or directory."),
    ("docker run --env-file /root/shell.env IMAGE", 125, "variable 'export A' contains whitespaces"),
    ("docker run -v /a:b IMAGE", 125, "'b' mount path must be absolute"),
    ("docker run -v /a:/a:rx IMAGE", 125, "invalid mode: rx"),
    ("docker run -v /a:/a -v /a:/a:ro IMAGE", 125, "Duplicate mount point: /a"),
    ("docker run --device /dev/davinci7 IMAGE", 127, "error gathering device information"),
    ("docker run --network nowhere IMAGE", 125, "network nowhere not found"),
    ("docker run -p 127.0.0.1:PORT:PORT IMAGE true", 125, "listen tcp4 127.0.0.1:PORT: bind: address already in use"),
    ("docker run -p 7007:7007 IMAGE true", 125, "Bind for 0.0.0.0:7007 failed: port is already allocated"),
    ("docker run --pull never quay.io/ascend/cann:9 true", 125, "No such image: quay.io/ascend/cann:9"),
    ("docker run --pull often IMAGE", 125, "invalid pull option: 'often'"),
    ("docker run quay.io/Ascend/x", 125, "invalid reference format: repository name (quay.io/Ascend/x) must be lowerc"),
    ("docker run nothing/here true", 125, "pull access denied for nothing/here"),
    ("docker run IMAGE python9", 127, 'exec: "python9": executable file not found in $PATH'),
    ("docker ps one", 1, '"docker ps" accepts no arguments.'),
    ("docker ps --everything", 125, "unknown flag: --everything"),
    ("docker ps --format '{{.Card}}'", 1, 'map has no entry for key "Card"'),
    ("docker inspect", 1, '"docker inspect" requires at least 1 argument.'),
    ("docker inspect none", 1, "Error: No such object: none"),
    ("docker image inspect one", 1, "Error: No such image: one"),
    ("docker container inspect IMAGE", 1, "Error: No such container: IMAGE"),
    ("docker inspect -f '{{.State.Nothing}}' one", 1, 'map has no entry for key "Nothing"'),
    ("docker logs", 1, '"docker logs" requires exactly 1 argument.'),
    ("docker logs one two", 1, '"docker logs" requires exactly 1 argument.'),
    ("docker logs none", 1, "No such container: none"),
    ("docker stop -t soon one", 125, 'invalid argument "soon" for "-t, --time" flag'),
    ("docker stop none", 1, "No such container: none"),
    ("docker kill ended", 1, "is not running"),
    ("docker rm one", 1, 'cannot remove container "/one": container is running: stop the container before removing'),
    ("docker rm none", 1, "No such container: none"),
    ("docker rmi IMAGE", 1, "unable to remove repository reference"),
    ("docker exec one", 1, '"docker exec" requires at least 2 arguments.'),
    ("docker exec ended true", 1, "is not running"),
    ("docker pull", 1, '"docker pull" requires exactly 1 argument.'),
    ("docker pull quay.io/ascend/none:1", 1, "manifest unknown"),
    ("docker load -i /none", 1, "open /none: no such file or directory"),
    ("docker load archive.tar", 1, '"docker load" accepts no arguments.'),
    ("docker load </etc/hostname", 1, "unexpected EOF"),
)
BEFORE = """
docker pull IMAGE >/dev/null; printf 'export A\\n' >/root/shell.env; mkdir /a
docker run -d --name one -p 7007:7007 IMAGE sleep 60 >/dev/null; docker run --name ended IMAGE true
"""


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path / "host", "two-healthy-910b4")


@inside
def test_what_the_real_one_refuses(host: Host) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        lines = [f"echo '##'; {command} 2>&1; echo code=$?" for command, _, _ in REFUSALS]
        script = "\n".join([BEFORE, *lines]).replace("IMAGE", IMAGE).replace("PORT", port)
        said = host.run(script).split("##\n")[1:]
    assert len(said) == len(REFUSALS)
    for (command, code, words), answer in zip(REFUSALS, said, strict=True):
        assert words.replace("IMAGE", IMAGE).replace("PORT", port) in answer, command
        assert answer.rstrip().endswith(f"code={code}"), (command, answer)


@inside
def test_what_the_real_one_does(host: Host) -> None:
    said = host.run(
        f"docker pull {IMAGE} >/dev/null; printf '# note\\nA=x y\\n' >e; export C=3;"
        f"docker run --rm --name one --env-file e -eB=2 --env C --env D {IMAGE} "
        "sh -c 'echo $A $B $C ${D-none}; exit 7';"
        "echo code=$?; docker ps -aq; docker rm -f one; echo code=$?;"
        f"docker run -d --rm --name two {IMAGE} sh -c 'echo 1; echo 2; echo 3; exec sleep 60' >/dev/null; sleep 0.5;"
        "docker logs --tail 2 two; docker ps --filter name=^/two$ --format '{{.Names}} {{.State}}';"
        "docker stop -t 1 two;"
        f"docker ps -aq; docker run -v /new/folder:/new/folder {IMAGE} true; ls -d /new/folder;"
        "docker image inspect -f '{{.Architecture}}' " + IMAGE
    )
    assert said.startswith("x y 2 3 none\ncode=7\n")
    assert "No such container: one\ncode=0\n" in said
    assert "\n2\n3\ntwo running\ntwo\n/new/folder\narm64\n" in said


@inside
@pytest.mark.parametrize(
    ("change", "words", "codes"),
    [
        ("systemctl stop docker", "Cannot connect to the Docker daemon", [1, 125]),
        (
            "useradd -m lee; export REHEARSAL_AS=lee",
            "permission denied while trying to connect to the Docker",
            [1, 126],
        ),
    ],
)
def test_who_may_not_and_when_it_does_not_run(host: Host, change: str, words: str, codes: list[int]) -> None:
    said = host.run(f"{change}; docker ps; echo code=$?; docker run --rm x true; echo code=$?")
    assert said.count(words) == 2
    assert [int(line.partition("=")[2]) for line in said.splitlines() if line.startswith("code=")] == codes


@pytest.mark.parametrize(
    ("wished", "told", "heard"),
    [
        ("0.0.0.0", "8000=127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "8000=0.0.0.0", "0.0.0.0"),
        ("0.0.0.0", "", docker_ports.NOWHERE),
        ("0.0.0.0", "8001=0.0.0.0", docker_ports.NOWHERE),
        ("127.0.0.1", "8000=0.0.0.0", docker_ports.NOWHERE),
        ("127.0.0.1", None, "127.0.0.1"),
    ],
)
def test_an_engine_is_heard_where_its_port_is_published(wished: str, told: str | None, heard: str) -> None:
    assert docker_ports.address(wished, "8000", told) == heard


def test_a_loop_over_nothing_shows_nothing() -> None:
    assert templates.fill("a{{range .Rows}}{{.Name}}{{json .Other}}{{end}}b", {"Rows": []}) == "ab"
    with pytest.raises(ValueError, match='no entry for key "None"'):
        templates.fill("{{.None}}", {"Some": 1})
