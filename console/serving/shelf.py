"""The model folders of a host, wherever it is, each looked through; what has not changed is not read again."""

from collections.abc import Sequence
from pathlib import Path

from console.hosts import inventory
from console.hosts.inventory import Host
from console.serving.far_folder import Listed, brought, listed
from console.serving.fit_folder import shape_of_folder
from console.serving.folder import LocalFolder
from console.serving.shape import Shape
from console.serving.weights import ModelFolder, absent, inspect, inspect_model, is_a_file

MOST_KNOWN = 500

_known: dict[tuple[int, str], tuple[Listed, ModelFolder]] = {}
"""What this process has looked through, by host and folder; it holds while names, sizes and times are the same."""


def model_on(host: Host, folder: str) -> ModelFolder:
    """Look through one folder of a host. HostError when the host cannot be asked."""
    if host.reach is None:
        return inspect_model(folder)
    return _judged(host, listed(inventory.runner(host), [folder], "")[-1])


def models_below(host: Host, named: Sequence[str]) -> list[ModelFolder]:
    """Those in the work folder, then those `named` beside them. HostError when the host cannot be asked."""
    if host.reach is None:
        below = sorted((Path(host.work_folder) / "models").glob("*/config.json"))
        return [inspect_model(one) for one in dict.fromkeys([*(str(path.parent) for path in below), *named])]
    return [_judged(host, one) for one in listed(inventory.runner(host), named, f"{host.work_folder}/models")]


def shape_on(host: Host, folder: str) -> Shape:
    """The same folder as the fit calculator sees it. InvalidInput when its config.json cannot be used."""
    if host.reach is None:
        return shape_of_folder(folder, LocalFolder(Path(folder)))[0]
    runner = inventory.runner(host)
    return shape_of_folder(folder, brought(runner, listed(runner, [folder], "")[-1]))[0]


def _judged(host: Host, one: Listed) -> ModelFolder:
    if one.kind == "file":
        return is_a_file(one.folder)
    if one.kind == "absent":
        return absent(one.folder)
    known = _known.get((host.id, one.folder))
    if known is not None and known[0] == one:
        return known[1]
    model = inspect(one.folder, brought(inventory.runner(host), one))
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[host.id, one.folder] = (one, model)
    return model
