"""vLLM with the Ascend plugin in a Python environment on the host itself, with CANN beside it."""

from pathlib import PurePosixPath

from console.serving import ascend, options
from console.serving.backends import USUAL, Site
from console.serving.command import API_KEY, OFFLINE, Command
from console.serving.spec import Machine, ModelFacts, Refusal, ServeSpec
from console.text import say

VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"


class AscendVenv:
    """The wheel or the sources of vllm-ascend, installed below the work folder."""

    name = ascend.VENV
    title = say("Ascend NPUs, without a container")
    needs = (
        say("Driver, firmware and CANN with its operators and NNAL on the host."),
        say("A Python environment with vLLM and vllm-ascend of the same release."),
    )

    def runtime_folder(self, work_folder: str, arch: str | None = None) -> str:
        return f"{work_folder}/runtimes/ascend-venv"

    def command(self, spec: ServeSpec, runtime_folder: str, site: Site = USUAL) -> Command:
        """Loads the environment of CANN first: a shell that nobody logged into has none."""
        vllm = str(PurePosixPath(runtime_folder) / "bin" / "vllm")
        env = {**spec.extra_env, **OFFLINE}
        if spec.device_ids:
            env[VISIBLE] = ",".join(map(str, spec.device_ids))
        before = ascend.wrapped(site.cann or ascend.CANN)
        argv = (*before, vllm, "serve", *options.words(spec), *ascend.quiet(spec))
        return Command(argv, env, (API_KEY,) if spec.api_key else (), (len(before),))

    def refusals(self, spec: ServeSpec, model: ModelFacts, machine: Machine) -> list[Refusal]:
        of_containers = [name for name in ("image", "mounts", "shm_gib", "network") if getattr(spec, name)]
        why, instead = say("This setting is for a container."), say("Leave it as it was.")
        return [*ascend.refusals(spec), *(Refusal(name, why, instead) for name in of_containers)]


BACKEND = AscendVenv()
