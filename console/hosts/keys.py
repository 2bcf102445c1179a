"""The keys and passwords that log in: the console's own pair, a person's key file, the agent, a password in memory."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from paramiko import Agent, Ed25519Key, PKey, SSHException
from paramiko.pkey import UnknownKeyType

from console.errors import HostError
from console.hosts.reach import Reach
from console.settings import settings
from console.text import Text, say, verbatim

COMMENT = "ascend-pilot-console"


class Password:
    """A password that lives in memory only; no log and no message can show it."""

    def __init__(self, words: str) -> None:
        self._words = words

    def reveal(self) -> str:
        return self._words

    def __repr__(self) -> str:
        return "Password(...)"


class Passwords(Protocol):
    """Where the password for a host comes from; asked only where no key logs in."""

    def get(self) -> Password | None: ...

    def wrong(self) -> None:
        """The host refused it: it is not to be tried again, since some hosts lock an account after a few tries."""
        ...


def own_file() -> Path:
    return settings().data / "ssh" / "id_ed25519"


def public_line() -> str:
    """The console's public key as one line of authorized_keys; the pair is made when there is none yet."""
    if not own_file().exists():
        make_pair(own_file())
    key = Ed25519Key.from_private_key_file(str(own_file()))
    return f"{key.get_name()} {key.get_base64()} {COMMENT}"


@contextmanager
def offered(reach: Reach) -> Iterator[Iterator[tuple[Text, PKey]]]:
    """The keys to try for this host with what each is called, the most specific first."""
    agent = Agent() if reach.agent else None
    try:
        yield _each(reach, agent)
    finally:
        if agent is not None:
            agent.close()


def read(path: str) -> PKey:
    """The private key in a file. HostError with what to do when it cannot be used."""
    try:
        mode = Path(path).stat().st_mode
        if stat.S_IMODE(mode) & 0o077:
            raise HostError(
                say(
                    "Others can read the key file {path} (mode {mode}), so it is not used. Run: chmod 600 {path}",
                    path=path,
                    mode=f"{stat.S_IMODE(mode):04o}",
                )
            )
        return PKey.from_path(path)
    except OSError as error:
        raise HostError(
            say("The key file {path} cannot be read: {error}", path=path, error=error.strerror or str(error))
        ) from error
    except TypeError as error:
        raise HostError(
            say(
                "The key file {path} is locked with a passphrase. Load it into your SSH agent (ssh-add {path}) and "
                "start the console from there, or name a key without passphrase.",
                path=path,
            )
        ) from error
    except (ValueError, SSHException, UnknownKeyType) as error:
        raise HostError(
            say("{path} is no private key that can be read. Is it the public half, or of another program?", path=path)
        ) from error


def _each(reach: Reach, agent: Agent | None) -> Iterator[tuple[Text, PKey]]:
    if reach.key_file:
        yield verbatim(reach.key_file), read(reach.key_file)
    if own_file().exists():
        yield say("the console's own key"), read(str(own_file()))
    if agent is not None:
        for key in agent.get_keys():
            yield say("the agent's key {name}", name=key.comment or key.get_name()), key


def make_pair(path: Path) -> None:
    """Write a new private key; of two processes that do so at once, one wins and both use its key."""
    private = Ed25519PrivateKey.generate()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        try:
            os.link(part, path)
        except FileExistsError:
            return
        finally:
            part.unlink()
    except OSError as error:
        raise HostError(
            say("The console's key could not be written to {path}: {error}", path=str(path), error=str(error))
        ) from error
