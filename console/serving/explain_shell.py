"""Finds the vLLM server in the commands of a pasted text, through everything that is put around one."""

import re

from console.catalog.flags import near
from console.serving.explain_docker import ENGINES, container
from console.serving.explain_parts import Pasted, Word
from console.serving.explain_words import DOLLAR, Command, apart, is_open, resolved
from console.text import Text, say, verbatim

SERVER_MODULES = ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server", "vllm.entrypoints.cli.main")
OLD_MODULE = "vllm.entrypoints.api_server"
PREFIXES = (
    "sudo",
    "nohup",
    "setsid",
    "exec",
    "command",
    "time",
    "stdbuf",
    "nice",
    "ionice",
    "numactl",
    "taskset",
    "env",
)
TAKES_VALUE = {
    "sudo": ("-u", "-g", "-h", "-p", "-C"),
    "nice": ("-n",),
    "ionice": ("-c", "-n"),
    "numactl": ("-N", "-m", "-C"),
    "taskset": ("-c",),
    "stdbuf": ("-o", "-e", "-i"),
    "env": ("-u", "-C"),
}
SHELLS = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "dash")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_REDIRECTED = re.compile(r"(\d*|&)(>>?|<)(&?\d*)(.*)", re.DOTALL)
_GLUED = re.compile(r"(.*[^A-Za-z0-9_./-])((?:[A-Za-z0-9_.-]*/)*vllm)", re.DOTALL)
"""The name of the program behind a mark that no blank follows, as in `ExecStart=/usr/bin/vllm`."""
_MENTIONED = re.compile(r"\bvllm\s+serve\s|\s-m\s+vllm\.entrypoints")
NOT_RUN = frozenset((
    "echo", "printf", "cat", "grep", "egrep", "fgrep", "pgrep", "pkill", "kill", "killall", "man", "which", "alias",
    "type", "git", "pip", "pip3", "systemctl", "tail", "less", "sed", "awk", "find",
))  # fmt: skip
"""Commands that only speak of others."""
MOST_BEFORE = 30
"""Words before a server within which it is looked for."""
MOST_DEEP = 5


def shell(text: str, pasted: Pasted, deep: int = 0) -> None:
    """Read `text` as shell commands into `pasted`: the first server that is found, and what is around it."""
    whole = apart(text)
    if deep == 0:
        pasted.ignore(say("It frames the text."), whole.frame)
    pasted.ignore(say("It is a comment."), whole.comments)
    for command in whole.commands:
        one_command(command, pasted, deep)


def one_command(command: Command, pasted: Pasted, deep: int = 0, *, is_inner: bool = False) -> None:
    """One simple command: variables, then what runs. is_inner: a shell has read its words already."""
    read = command.words if is_inner else _resolved(command.words, pasted)
    words = _without_redirections(read, pasted)
    if command.end in ("&", "|", ";"):
        pasted.ignore(say("It says how commands follow each other."), [command.end])
    words = _without_prefixes(words, pasted)
    if not words:
        return
    name = words[0].text.rsplit("/", 1)[-1]
    if name in ("export", "set", "setx", "declare") and not pasted.command:
        _exported(words, pasted)
    elif words[0].text in SHELLS and (found := _script(words)) is not None:
        _script_of(words, found, pasted, deep)
    elif pasted.command and pasted.kind != "python" and words[0].text.startswith("-"):
        _more_options(words, pasted)
    elif pasted.command:
        pasted.ignore(_why_not(name, again=_serves(words) is not None), [word.raw for word in words])
    elif name in ENGINES:
        _container(words, pasted, deep)
    elif (length := _serves(words)) is not None:
        _server(words, length, pasted)
    elif not _further_in(words, name, pasted, deep):
        pasted.ignore(_why_not(name), [word.raw for word in words])


def _more_options(words: list[Word], pasted: Pasted) -> None:
    """Options behind a line that should have been continued."""
    why = say("It begins a line of its own, so a shell does not hand it to the server.")
    pasted.find(words[0].raw, why, say("End the line before it with a backslash, and write nothing behind that."))
    pasted.words = [*pasted.words, *words]


def _further_in(words: list[Word], name: str, pasted: Pasted, deep: int) -> bool:
    """A server behind words that are not known here: `timeout 60 vllm serve`, `ssh host 'vllm serve ...'`, a list."""
    if name in NOT_RUN:
        return False
    before = say("It is put before a command; the console starts servers in its own way.")
    for at, word in enumerate(words[:MOST_BEFORE]):
        glued = _GLUED.fullmatch(word.text)
        rest = [Word(glued[2], word.raw) if glued else word, *words[at + 1 :]]
        if (length := _serves(rest)) is not None:
            pasted.ignore(before, [one.raw for one in words[:at]])
            _server(rest, length, pasted)
            return True
        if deep < MOST_DEEP and _MENTIONED.search(word.text):
            pasted.ignore(before, [one.raw for one in words[:at]])
            shell(word.text.replace(DOLLAR, "$"), pasted, deep + 1)
            pasted.ignore(say("It belongs to the script."), [one.raw for one in words[at + 1 :]])
            return True
    return False


def _resolved(words: list[Word], pasted: Pasted) -> list[Word]:
    """Words with the variables replaced that were set before."""
    values = {name: value for name, (value, _) in pasted.env.items()}
    return [resolved(word, values) for word in words]


def _without_redirections(words: list[Word], pasted: Pasted) -> list[Word]:
    kept: list[Word] = []
    why = say("It says where the output goes; the console keeps the log of every server.")
    after = False
    for word in words:
        is_plain = not word.raw.startswith(("'", '"')) and not is_open(word.raw)
        found = _REDIRECTED.fullmatch(word.raw) if is_plain else None
        if after:
            pasted.ignore(why, [word.raw])
            after = False
        elif found is not None:
            pasted.ignore(why, [word.raw])
            after = not found[4] and not found[3].strip("&")
        else:
            kept.append(word)
    return kept


def _without_prefixes(words: list[Word], pasted: Pasted) -> list[Word]:
    """Take off what runs another command, and the variables before it."""
    at = 0
    while at < len(words):
        assigned = _ASSIGNED.fullmatch(words[at].text)
        name = words[at].text.rsplit("/", 1)[-1]
        if assigned and _serves([Word(assigned[2], words[at].raw), *words[at + 1 :]]) is not None:
            break  # ExecStart=/usr/bin/vllm serve
        if assigned:
            inner = _ASSIGNED.fullmatch(assigned[2]) if assigned[1] == "Environment" else None  # as systemd writes it
            name, value = (inner or assigned).groups()
            pasted.variable(name, value, words[at].raw)
            at += 1
        elif name in PREFIXES:
            end = _end_of_prefix(words, at, name)
            why = say("It is put before a command; the console starts servers in its own way.")
            pasted.ignore(why, [word.raw for word in words[at:end]])
            at = end
        else:
            break
    return words[at:]


def _end_of_prefix(words: list[Word], at: int, name: str) -> int:
    end = at + 1
    while end < len(words) and words[end].text.startswith("-"):
        end += 2 if words[end].text in TAKES_VALUE.get(name, ()) else 1
    if name == "taskset" and end < len(words) and re.fullmatch(r"(0x)?[0-9a-fA-F,-]+", words[end].text):
        end += 1
    return min(end, len(words))


def _exported(words: list[Word], pasted: Pasted) -> None:
    pasted.take(words[0].raw)
    for word in words[1:]:
        assigned = _ASSIGNED.fullmatch(word.text)
        if assigned:
            pasted.variable(assigned[1], assigned[2], word.raw)
        elif word.text == "=":
            _apart(words, pasted)
            return
        else:
            pasted.ignore(say("It sets nothing."), [word.raw])


def _apart(words: list[Word], pasted: Pasted) -> None:
    """`export NAME = value`."""
    whole = " ".join(word.raw for word in words[1:])
    together = "".join(word.text for word in words[1:])
    why = say("A shell wants no blanks around the equals sign.")
    pasted.find(whole, why, say("Write {instead}.", instead=f"{words[0].text} {together}"))


def _script(words: list[Word]) -> int | None:
    """Where the text of `bash -c "..."` stands."""
    for at, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-z]*c", word.text):
            return at + 1 if at + 1 < len(words) else None
        if not word.text.startswith("-"):
            return None
    return None


def _script_of(words: list[Word], at: int, pasted: Pasted, deep: int) -> None:
    """The commands of a script; or those it is given, where it only prepares and then becomes them."""
    pasted.ignore(say("It runs a script."), [word.raw for word in words[:at]])
    script = words[at].text.replace(DOLLAR, "$")
    if re.search(r'"?\$@"?\s*$', script) and len(words) > at + 2:
        why = say("It loads the environment before the command; the console does that itself.")
        pasted.ignore(why, [words[at].raw, words[at + 1].raw])
        one_command(Command(words[at + 2 :]), pasted, deep + 1, is_inner=True)
    elif deep < MOST_DEEP:
        shell(script, pasted, deep + 1)
        pasted.ignore(say("It belongs to the script."), [word.raw for word in words[at + 1 :]])
    else:
        pasted.ignore(say("Scripts within scripts are not followed any deeper."), [word.raw for word in words[at:]])


def _serves(words: list[Word]) -> int | None:
    """How many words the name of the server takes: `vllm serve`, or `python -m` and a module; None: another command."""
    texts = [word.text for word in words]
    name = texts[0].rsplit("/", 1)[-1] if texts else ""
    if name.lower() == "vllm" and texts[1:2] and (texts[1].lower() == "serve" or near(texts[1], ["serve"])):
        return 2
    if re.fullmatch(r"python[\d.]*|torchrun", name):
        for at, text in enumerate(texts[1:], 1):
            if text == "-m" and texts[at + 1 : at + 2] and texts[at + 1] in SERVER_MODULES:
                is_line = texts[at + 1] == "vllm.entrypoints.cli.main" and texts[at + 2 : at + 3] == ["serve"]
                return at + 3 if is_line else at + 2
            if not text.startswith("-") and not text.isdecimal():
                return None
    return None


def _server(words: list[Word], length: int, pasted: Pasted) -> None:
    pasted.kind = pasted.kind or "serve"
    pasted.command = " ".join(word.raw for word in words[:length])
    pasted.is_local = pasted.is_local or "/local-cpu-" in words[0].text
    pasted.take(*(word.raw for word in words[:length]))
    name = [words[0].text.rsplit("/", 1)[-1], words[1].text]
    if name[0].lower() == "vllm" and name != ["vllm", "serve"]:
        why = say("A shell tells capitals from small letters, and vllm has no command called {name}.", name=name[1])
        pasted.find(pasted.command, why, say("Write {instead}.", instead="vllm serve"))
    if any(word.text == OLD_MODULE for word in words[:length]):
        why = say("This module is a demonstration without the API of OpenAI, and newer releases do not have it.")
        pasted.find(OLD_MODULE, why, verbatim("vllm serve MODEL"))
    pasted.words = words[length:]


def _container(words: list[Word], pasted: Pasted, deep: int) -> None:
    inner = container(words, pasted)
    if inner is None:
        return
    if inner and inner[0].text.startswith("-"):  # an image whose entry point is the server itself
        pasted.command = pasted.image
        pasted.words = inner
    elif inner:
        one_command(Command(inner), pasted, deep + 1, is_inner=True)
        pasted.command = pasted.command or words[0].raw


def _why_not(name: str, *, again: bool = False) -> Text:
    if again:
        return say("It starts another server. Paste it alone to have it explained.")
    if name in ("source", ".", "conda", "activate", "module"):
        return say("It loads an environment; the console loads that of CANN itself.")
    if name in ("pip", "pip3", "apt", "apt-get", "yum", "dnf", "uv", "git", "modelscope", "huggingface-cli", "wget"):
        return say("It installs or fetches something; see the pages Install and Models.")
    if name in ("curl", "http", "ab"):
        return say("It asks a server something; see the page Playground.")
    return say("It starts no vLLM server.")
