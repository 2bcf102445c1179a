"""Packages, users, sudo, services, containers and room of a rehearsal host behave, and stay in one piece."""

import io
import json
import socket
import sys
import tarfile
from pathlib import Path

import pytest

from console.facts.npu_smi_info import parse_npu_smi_info
from tests.scripts.rehearsed import FAKE, Host, why_not

sys.path.insert(0, str(FAKE))
from pretend import templates  # type: ignore[import-not-found]

inside = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path / "host", "two-healthy-910b4")


@inside
def test_packages_come_and_go_with_what_they_bring(host: Host) -> None:
    headers = "linux-headers-5.15.0-25-generic"
    said = host.run(
        f"apt-get -s install jq; dpkg-query -W jq; apt-get install -y jq numactl >/dev/null && dpkg -l jq | tail -n 1;"
        f"apt-get remove -y numactl {headers} >/dev/null; command -v numactl || echo gone;"
        f"ls /lib/modules/5.15.0-25-generic; apt-get install -y no-such-thing; echo code=$?",
    )
    assert "Inst jq (1.6-2.1ubuntu3.1" in said
    assert "no packages found matching jq" in said
    assert "ii  jq" in said
    assert "gone\nmodules.dep\n" in said
    assert "E: Unable to locate package no-such-thing" in said
    assert said.rstrip().endswith("code=100")


HOLD = """
python3 -c 'import fcntl, time; f = open("/var/lib/dpkg/lock-frontend", "w"); fcntl.lockf(f, fcntl.LOCK_EX)
open("/run/held", "w"); time.sleep(60)' &
holder=$!
until [ -e /run/held ]; do sleep 0.1; done
"""


@inside
def test_a_held_lock_stops_apt(host: Host) -> None:
    said = host.run(f"{HOLD} apt-get install -y jq; echo code=$?; kill $holder")
    assert "Could not get lock /var/lib/dpkg/lock-frontend. It is held by process" in said
    assert "code=100" in said


@inside
def test_the_rpm_family_speaks_its_own_words(tmp_path: Path) -> None:
    host = Host(tmp_path / "host", "eight-910b3")
    said = host.run(
        "apt-get install -y jq; echo code=$?; dnf install -y jq; rpm -q jq gcc; dnf remove -y jq >/dev/null; rpm -q jq;"
        " dnf install -y no-such-thing; uname -r"
    )
    assert "code=127" in said
    assert "Installed:\n  jq-" in said
    assert "gcc-12.3.1-38.oe2403.aarch64" in said
    assert "package jq is not installed" in said
    assert "Error: Unable to find a match: no-such-thing" in said
    assert "6.6.0-28.0.0.34.oe2403.aarch64" in said


@inside
def test_users_and_groups_are_really_made(host: Host) -> None:
    said = host.run(
        "groupadd team && useradd -g team -m -s /bin/bash anna && usermod -aG HwHiAiUser anna && id -Gn anna;"
        "getent passwd anna; ls -d /home/anna; useradd anna; echo code=$?;"
        "useradd -g nobody-knows x; echo code=$?; id x",
        code=1,
    )
    assert "team HwHiAiUser" in said
    assert ":/home/anna:/bin/bash" in said
    assert said.count("code=9") == 1
    assert "group 'nobody-knows' does not exist" in said
    assert "no such user" in said


def login(host: Host, **more: object) -> None:
    """The host's login from now on: an ordinary user with some right to sudo."""
    user = {"user": "pilot", "uid": 1000, "home": "/home/pilot", **more}
    host.run(f"useradd -m pilot; printf %s '{json.dumps(user)}' >/var/lib/rehearsal/login.json", code=None)


@inside
def test_sudo_with_a_password(host: Host) -> None:
    login(host, sudo="password", password="let me in")
    said = host.run(
        "id -un; sudo -n true; echo code=$?; echo wrong | sudo -S -p '' id -u; echo code=$?;"
        "printf 'let me in\\nrest\\n' | sudo -S -p 'word: ' cat; sudo -n id -un; sudo -k; sudo -n true; echo code=$?;"
        "sudo true </dev/null",
        code=1,
    )
    assert said.startswith("pilot\n")
    assert said.count("code=1") == 3
    assert "sudo: 1 incorrect password attempt\n" in said
    assert "\nword: rest\nroot\n" in said
    assert "sudo: a terminal is required to read the password" in said


@inside
def test_sudo_hands_on_the_variables_that_are_named_to_it(host: Host) -> None:
    login(host, sudo="nopasswd")
    said = host.run(
        "export A=1 B=2 LC_ALL=C; show='echo ${A-none} ${B-none} $LC_ALL'; sudo sh -c \"$show\";"
        'sudo -n --preserve-env=A,C -- sh -c "$show"; sudo -E sh -c "$show"; sudo B=3 sh -c "$show"'
    )
    assert said.splitlines() == ["none none C", "1 none C", "1 2 C", "none 3 C"]


@inside
def test_sudo_without_the_right(host: Host) -> None:
    login(host, sudo="no", password="let me in")
    said = host.run(
        "echo 'let me in' | sudo -S true; apt-get install -y jq; systemctl restart docker; reboot; useradd x", code=1
    )
    assert "pilot is not in the sudoers file." in said
    assert "are you root?" in said
    assert "Interactive authentication required" in said
    assert "Permission denied" in said


WANTED = "/run/rehearsal/reboot-wanted"


@inside
def test_a_reboot_is_only_asked_for(host: Host) -> None:
    assert host.run("reboot; ls /run/rehearsal/reboot-wanted").strip() == "/run/rehearsal/reboot-wanted"
    host.run("test ! -e /run/rehearsal/reboot-wanted")
    host.run(f"systemctl reboot && test -e {WANTED} && shutdown -c && test ! -e {WANTED}")


@inside
def test_docker_keeps_a_container_on_a_card(host: Host) -> None:
    image = "quay.io/ascend/vllm-ascend:v0.18.0"
    run = f"docker run -d --name one --restart=always --device /dev/davinci1 --device /dev/davinci_manager {image}"
    said = host.run(
        f"docker run -d {image.replace('vllm-ascend', 'no')} ; docker pull {image} >/dev/null;"
        f"{run} sh -c 'echo begun; sleep 60';"
        "docker ps --format '{{.Names}} {{.Image}}'; docker inspect -f '{{.State.Running}} {{json .Config.Cmd}}' one;"
        f"{run} true; sleep 0.3; docker logs one; docker exec one printenv REHEARSAL_NODES; docker stop -t 1 one;"
        "docker ps -q; docker inspect -f '{{.State.Status}}' one; docker rm one; docker ps -aq; docker inspect one",
        code=1,
    )
    assert "manifest unknown" in said
    assert f"one {image}" in said
    assert 'true ["sh", "-c", "echo begun; sleep 60"]' in said
    assert 'The container name "/one" is already in use' in said
    assert "\nbegun\n1\none\nexited\none\n" in said
    assert "No such object: one" in said


SERVER = """
docker pull IMAGE >/dev/null; mkdir /root/model; echo '{}' >/root/model/config.json
docker run --rm --name one --shm-size 1g --network host --device /dev/davinci1 --device /dev/davinci_manager \\
  --volume /usr/local/dcmi:/usr/local/dcmi --volume /root:/root:ro --env HF_HUB_OFFLINE=1 IMAGE \\
  bash -c 'exec "$@"' bash vllm serve /root/model --served-model-name m --port PORT \\
  --additional-config '{"a": 1}' --enforce-eager --gpu-memory-utilization 0.85 >/run/log 2>&1 &
client=$!
until curl -sf http://127.0.0.1:PORT/health; do sleep 0.1; kill -0 $client || { cat /run/log; exit 9; }; done
curl -s http://127.0.0.1:PORT/v1/models; echo; npu-smi info; kill -TERM $client; wait $client; echo code=$?
cat /run/log; docker ps -aq
"""


@inside
@pytest.mark.needs("curl", "bash")
def test_a_server_in_a_container_serves_holds_its_card_and_ends_with_its_client(host: Host) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = host.run(SERVER.replace("PORT", str(port)).replace("IMAGE", "quay.io/ascend/vllm-ascend:v0.23.0"))
    assert '"id": "m"' in said
    (process,) = parse_npu_smi_info(said[said.index("+--") : said.index("code=")]).processes
    assert process.npu == 1
    assert "stand-in for vLLM 0.23.0 with vllm-ascend 0.23.0" in said
    assert "the pretended engine answers in the place of /root/model" in said
    assert "the engine that answers is not told: --additional-config" in said
    assert "code=0" in said
    assert said.rstrip().endswith("INFO:     Shutting down")


@inside
def test_docker_refuses_in_a_sentence_what_it_cannot_play(host: Host) -> None:
    image = "quay.io/ascend/vllm-ascend:v0.18.0"
    said = host.run(
        f"docker pull {image} >/dev/null; docker run -v /a:/b {image}; docker run -p 80:8000 {image};"
        f"docker run --device /dev/davinci7 {image}; docker swarm init; docker run --gpus all {image};"
        "systemctl stop docker; docker ps",
        code=1,
    )
    assert "/a:/b: a rehearsal host mounts a folder at its own path only." in said
    assert "80:8000: a rehearsal host publishes a port under its own number only." in said
    assert "error gathering device information" in said
    assert "‘swarm’ is not simulated" in said
    assert "the option --gpus is not simulated" in said
    assert "Cannot connect to the Docker daemon" in said


@inside
def test_an_image_is_loaded_from_its_archive(host: Host, tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    manifest = json.dumps(
        [{"Config": "c.json", "RepoTags": ["quay.io/ascend/vllm-ascend:v0.23.0"], "Layers": []}]
    ).encode()
    with tarfile.open(archive, "w") as file:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(manifest)
        file.addfile(member, io.BytesIO(manifest))
    (tmp_path / "broken.tar").write_bytes(b"not an archive" * 100)
    said = host.run(
        f"docker load -i {archive}; docker load <{archive}; docker images --format '{{{{.Repository}}}}:{{{{.Tag}}}}';"
        f"docker load -i {tmp_path}/broken.tar; echo code=$?"
    )
    assert said.count("Loaded image: quay.io/ascend/vllm-ascend:v0.23.0") == 2
    assert "\nquay.io/ascend/vllm-ascend:v0.23.0\n" in said
    assert "unexpected EOF\ncode=1" in said or ("code=1" in said and "unexpected EOF" in said)


@inside
def test_what_is_written_takes_room(host: Host) -> None:
    free = "df -Pk /var/tmp | tail -n 1 | awk '{ print $4 }'"
    before, after = map(
        int, host.run(f"{free}; dd if=/dev/zero of=/var/tmp/x bs=1M count=64 status=none; sync; {free}").split()
    )
    assert before - after >= 60_000


def test_templates_are_filled_as_go_does() -> None:
    facts = {"ServerVersion": "27.5.1", "Runtimes": {"runc": {"path": "/a"}, "ascend": {}}, "On": True, "List": [1, 2]}
    assert (
        templates.fill("v {{.ServerVersion}} {{range $name, $one := .Runtimes}}{{$name}} {{end}}|", facts)
        == "v 27.5.1 runc ascend |"
    )
    assert (
        templates.fill("{{json .Runtimes.runc}} {{.On}} {{if .On}}yes{{end}}{{range .List}}-{{.}}{{end}}", facts)
        == '{"path": "/a"} true yes-1-2'
    )
    with pytest.raises(ValueError, match="undefined variable"):
        templates.fill("{{$nothing}}", facts)
