"""The facts asked of the machine the console runs on."""

from console.facts.fact import Fact
from console.facts.listeners import parse_listeners
from console.facts.lscpu import parse_lscpu
from console.facts.memory import parse_meminfo
from console.facts.npu_presence import parse_npu_nodes, parse_npu_pci, parse_npu_tool
from console.facts.os_release import parse_os_release
from console.facts.pythons import parse_pythons, parse_uv
from console.facts.rooms import parse_numa, parse_rooms
from console.facts.system import (
    parse_clock,
    parse_count,
    parse_flags,
    parse_kernel,
    parse_libc,
    parse_limits,
    parse_locale,
    parse_user,
    parse_wish,
    parse_word,
)

ROOMS = """
room() { # name folder: asks df of the folder or of its nearest parent that exists
  case $2 in /*) at=$2 ;; *) at=$PWD/$2 ;; esac
  while [ ! -d "$at" ]; do at=${at%/*}; [ -n "$at" ] || at=/; done
  may=no; [ -w "$at" ] && may=yes
  printf 'ask %s %s %s\\nfor %s\\n' "$1" "$may" "$at" "$2"
  df -PB1 "$at" 2>/dev/null || df -Pk "$at"
}
room work "$PILOT_FOLDER"
room tmp "${TMPDIR:-/tmp}"
room home "${HOME:-/}"
"""

_PYTHONS = """
seen=' '
for name in python3.11 python3.12 python3.13 python3.14 python3 /usr/bin/python3; do
  at=$(command -v "$name" 2>/dev/null) || continue
  at=$(readlink -f "$at" 2>/dev/null) || at=$(command -v "$name")
  case $seen in *" $at "*) continue ;; esac
  seen="$seen$at "
  "$at" -I -S -c '
import os, sys
has = lambda name: "yes" if any(os.path.isdir(os.path.join(at, name)) for at in sys.path) else "no"
version = "%d.%d.%d" % sys.version_info[:3]
print("python", os.path.realpath(sys.executable), version, "venv=" + has("venv"), "pip=" + has("ensurepip"))
' 2>/dev/null &
done
wait
"""

_LIMITS = """
tell() { # name file
  [ -r "$2" ] && read -r value <"$2" && printf '%s %s\\n' "$1" "$value"
}
path=''
if [ -r /proc/self/cgroup ]; then
  while read -r line; do
    case $line in 0::*) path=${line#0::} ;; esac
  done </proc/self/cgroup
fi
while :; do
  for name in memory.max memory.current cpu.max; do
    tell "$name" "/sys/fs/cgroup$path/$name"
  done
  [ -n "$path" ] && [ "$path" != / ] || break
  path=${path%/*}
done
for name in memory.limit_in_bytes memory.usage_in_bytes; do
  tell "$name" "/sys/fs/cgroup/memory/$name"
done
at=/sys/fs/cgroup/cpu
if [ -r "$at/cpu.cfs_quota_us" ] && [ -r "$at/cpu.cfs_period_us" ]; then
  read -r quota <"$at/cpu.cfs_quota_us"
  read -r period <"$at/cpu.cfs_period_us"
  printf 'cpu.max %s %s\\n' "$quota" "$period"
fi
exit 0
"""

_NUMA = """
for node in /sys/devices/system/node/node[0-9]*; do
  [ -d "$node" ] || continue
  printf 'node %s cpus %s\\n' "${node##*/node}" "$(cat "$node/cpulist")"
  grep -E 'MemTotal|MemFree' "$node/meminfo"
done
exit 0
"""

_PORTS = """
if ss -H -ltnp 2>/dev/null; then echo source ss
elif [ -r /proc/net/tcp ]; then echo source proc; grep -h ' 0A ' /proc/net/tcp /proc/net/tcp6 2>/dev/null
else ss -ltn; fi
exit 0
"""

_PCI = """
if [ -d /sys/bus/pci/devices ]; then
  for file in /sys/bus/pci/devices/*/vendor; do
    [ -r "$file" ] || continue
    read -r vendor <"$file"
    [ "$vendor" = 0x19e5 ] || continue
    at=${file%/vendor}
    read -r device <"$at/device"
    read -r class <"$at/class"
    printf '%s %s %s %s\\n' "${at##*/}" "$vendor" "$device" "$class"
  done
elif command -v lspci >/dev/null 2>&1; then lspci -Dnn -d 19e5:; fi
exit 0
"""

_CPUS = "unset OMP_NUM_THREADS OMP_THREAD_LIMIT; nproc 2>/dev/null || grep -c ^processor /proc/cpuinfo"

_NPU_TOOL = "if command -v npu-smi >/dev/null 2>&1; then npu-smi info; else echo absent; fi"

FACTS: list[Fact] = [
    Fact("wish", 'printf "folder=%s\\nport=%s\\n" "$PILOT_FOLDER" "$PILOT_PORT"', parse_wish),
    Fact("kernel", "uname -srm", parse_kernel),
    Fact("arch", "uname -m", parse_word),
    Fact("os_release", "cat /etc/os-release 2>/dev/null || cat /usr/lib/os-release", parse_os_release),
    Fact("libc", "getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1", parse_libc),
    Fact("user", "id -u; id -un", parse_user),
    Fact("locale", 'printf "%s\\n" "$PILOT_LANG"', parse_locale),
    Fact("clock", 'date +%s; date +%z; printf "%s\\n" "${PILOT_NOW:-}"', parse_clock),
    Fact("lscpu", "lscpu", parse_lscpu),
    Fact("cpu_flags", "grep -m1 -iE '^(flags|features)[[:space:]]*:' /proc/cpuinfo", parse_flags),
    Fact("usable_cpus", _CPUS, parse_count),
    Fact("meminfo", "cat /proc/meminfo", parse_meminfo),
    Fact("limits", _LIMITS, parse_limits),
    Fact("numa", _NUMA, parse_numa),
    Fact("rooms", ROOMS, parse_rooms),
    Fact("pythons", _PYTHONS, parse_pythons, limit_s=8),
    Fact("uv", "if command -v uv >/dev/null 2>&1; then uv --version; else echo absent; fi", parse_uv),
    Fact("listeners", _PORTS, parse_listeners),
    Fact("npu_pci", _PCI, parse_npu_pci),
    Fact("npu_nodes", "ls /dev; exit 0", parse_npu_nodes),
    Fact(
        "npu_tool", "if command -v npu-smi >/dev/null 2>&1; then npu-smi info; else echo absent; fi", parse_npu_tool, 15
    ),
]
"""In the order in which they are shown. The question carries $PILOT_FOLDER, $PILOT_PORT and $PILOT_NOW."""
