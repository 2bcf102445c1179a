"""What the limits of the profiles are called where a person reads or edits them."""

from collections.abc import Mapping

from console.text import Text, say

LIMITS: Mapping[str, Text] = {
    "archs": say("Processor architectures"),
    "systems": say("Operating systems"),
    "glibc": say("glibc, oldest version"),
    "pythons": say("Python, oldest and newest version"),
    "flags_needed": say("CPU features that are needed"),
    "flags_wished": say("CPU features that are wished for"),
    "cann": say("CANN release"),
    "driver_wished": say("Driver version wished for"),
    "npus": say("NPU chips"),
    "hbm_gib": say("Memory of a chip (GiB)"),
    "idle_hbm_mb": say("Memory that an idle chip uses (MiB)"),
    "idle_temperature_c": say("Temperature of an idle chip (°C)"),
    "idle_temperature_margin_c": say("Margin for a warm room (°C)"),
    "idle_temperature_apart_c": say("Temperature above the other chips (°C)"),
    "idle_power_ratio": say("Idle power against the other chips (times)"),
    "cores": say("CPU cores"),
    "cpu_mhz": say("Clock of the CPU (MHz)"),
    "cores_for_npu": say("CPU cores for each NPU"),
    "memory_least_gib": say("Memory, at least (GiB)"),
    "memory_wished_gib": say("Memory wished for (GiB)"),
    "memory_usable_part": say("Part of the memory that the system shows"),
    "room_least_gib": say("Room in the work folder, at least (GiB)"),
    "room_wished_gib": say("Room in the work folder wished for (GiB)"),
    "tmp_wished_gib": say("Room for temporary files (GiB)"),
    "cann_room_gib": say("Room for CANN (GiB)"),
    "array_tb": say("Size of the NVMe array (TB)"),
    "network_gbps": say("Network speed (Gb/s)"),
    "open_files": say("Open files of a process"),
    "shm_gib": say("Shared memory (GiB)"),
    "sysctls": say("Kernel settings, highest value"),
    "tools": say("Tools"),
}
"""By name of the limit in profiles.yaml, with its unit."""


def limit_title(name: str, key: str = "") -> Text:
    """The words for a limit, or for one entry of a limit that has several."""
    title = LIMITS[name]
    return say("{limit}: {entry}", limit=title, entry=key) if key else title
