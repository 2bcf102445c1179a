"""The exact words that start a server, ready to run and ready to copy."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from console.serving.backends import USUAL, Site, backend
from console.serving.spec import ServeSpec

OFFLINE: Mapping[str, str] = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}
"""Without these vLLM reports its use to its makers and asks the model hub for files; nothing may leave the machine."""
API_KEY = "VLLM_API_KEY"


@dataclass(frozen=True)
class Command:
    """argv and env are complete but for the secrets: secret_env names what the runner adds from an environment file.

    begins: words of argv that begin a line of their own where the command is shown, besides options.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    secret_env: tuple[str, ...] = ()
    begins: tuple[int, ...] = ()


def command(spec: ServeSpec, runtime_folder: str, site: Site = USUAL) -> Command:
    """What the backend of `spec` runs on a host like `site`. Raises NotFound for a backend that does not exist."""
    return backend(spec.backend).command(spec, runtime_folder, site)


def common_words(spec: ServeSpec) -> tuple[str, ...]:
    """The arguments of `vllm serve` that mean the same on every backend."""
    words = [spec.model_folder, "--served-model-name", spec.served_name, "--host", spec.host, "--port", str(spec.port)]
    words += ["--dtype", spec.dtype, "--tensor-parallel-size", str(spec.tensor_parallel)]
    if spec.pipeline_parallel > 1:
        words += ["--pipeline-parallel-size", str(spec.pipeline_parallel)]
    if spec.context is not None:
        words += ["--max-model-len", str(spec.context)]
    if spec.max_num_seqs is not None:
        words += ["--max-num-seqs", str(spec.max_num_seqs)]
    return tuple(words)


def shell(command: Command) -> str:
    """One POSIX shell command over several lines. A secret is taken from the shell it is pasted into, never printed."""
    env = [f"{name}={shlex.quote(value)}" for name, value in sorted(command.env.items())]
    env += [f'{name}="${{{name}:?}}"' for name in command.secret_env]
    return " \\\n  ".join([*env, *_lines(command.argv, command.begins)])


def _lines(argv: tuple[str, ...], begins: tuple[int, ...]) -> list[str]:
    """One line for what comes before the first option, then one for each option with its values."""
    lines: list[str] = []
    for at, word in enumerate(argv):
        if not lines or word.startswith("--") or at in begins:
            lines.append(shlex.quote(word))
        else:
            lines[-1] += " " + shlex.quote(word)
    return lines
