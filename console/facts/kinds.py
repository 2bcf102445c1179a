"""Every kind of output the console understands, by name."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial

from console.errors import InvalidInput
from console.facts.disks import parse_disks
from console.facts.dmidecode import parse_dmidecode
from console.facts.hccn import parse_hccn_conf, parse_hccn_tool
from console.facts.lscpu import parse_lscpu
from console.facts.memory import parse_free, parse_meminfo
from console.facts.nics import parse_ethtool, parse_ibv_devinfo
from console.facts.npu_smi_info import parse_npu_smi_info
from console.facts.npu_smi_lists import parse_mapping, parse_npu_list, parse_watch
from console.facts.npu_smi_queries import Answer, parse_query
from console.facts.npu_smi_topo import parse_topo
from console.facts.os_release import parse_os_release
from console.facts.packages import parse_packages
from console.facts.trouble import trouble_in
from console.facts.versions import parse_version_file
from console.text import Text, render, say

KINDS: Mapping[str, Callable[[str], object]] = {
    "npu_smi_info": parse_npu_smi_info,
    "npu_smi_error": trouble_in,
    "npu_smi_l": parse_npu_list,
    "npu_smi_m": parse_mapping,
    "npu_smi_t_board": partial(parse_query, "board"),
    "npu_smi_t_common": partial(parse_query, "common"),
    "npu_smi_t_ecc": partial(parse_query, "ecc"),
    "npu_smi_t_health": partial(parse_query, "health"),
    "npu_smi_t_memory": partial(parse_query, "memory"),
    "npu_smi_t_power": partial(parse_query, "power"),
    "npu_smi_t_topo": parse_topo,
    "npu_smi_t_usages": partial(parse_query, "usages"),
    "npu_smi_watch": parse_watch,
    "hccn_tool": parse_hccn_tool,
    "hccn_conf": parse_hccn_conf,
    "lscpu": parse_lscpu,
    "meminfo": parse_meminfo,
    "free": parse_free,
    "os_release": parse_os_release,
    "version_file": parse_version_file,
    "pip_list": parse_packages,
    "dmidecode": parse_dmidecode,
    "disks": parse_disks,
    "ethtool": parse_ethtool,
    "ibv_devinfo": parse_ibv_devinfo,
}


def parse(kind: str, text: str) -> dict[str, object]:
    """`text` as plain values for JSON; `status` is "ok", "partial" or "error".

    Raises InvalidInput for a kind that does not exist.
    """
    if kind not in KINDS:
        raise InvalidInput(
            say("There is no kind of output named {kind}. Choose one of: {kinds}.", kind=kind, kinds=", ".join(KINDS))
        )
    found = KINDS[kind](text)
    if isinstance(found, Answer):
        own = {"status": found.status, **found.values, "unread": found.unread}
        return as_plain({**own, "chips": found.chips} if len(found.chips) > 1 else own)
    return as_plain(found)


def as_plain(value: object) -> dict[str, object]:
    """A dataclass or mapping as JSON values: tuples become lists, texts English sentences."""
    plain = _plain(value)
    assert isinstance(plain, dict)
    return plain


def _plain(value: object) -> object:
    if isinstance(value, Text):
        return render(value, "en")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value
