"""The commands that ask a host about its NPUs and their software, as POSIX shell.

Every npu-smi and hccn_tool call has a time limit of its own; after the first that exceeds it a loop ends, since a
driver that hangs once hangs for every card.
"""

LIMITED = r"""
if timeout -k 1 5 true 2>/dev/null; then lim() { timeout -k 1 "${limit:-5}" "$@"; }
elif timeout 5 true 2>/dev/null; then lim() { timeout "${limit:-5}" "$@"; }
else lim() { "$@"; }; fi
stuck() { # code of a limited call
  [ "$1" -eq 124 ] || [ "$1" -eq 137 ] || return 1
  echo 'The query timed out.'
}
"""

_THERE = r"""
command -v npu-smi >/dev/null 2>&1 || { echo absent; exit 0; }
"""

_CARDS = r"""
list=$(lim npu-smi info -l 2>&1)
ids=$(printf '%s\n' "$list" | sed -nE 's/^[[:space:]]*(NPU|Card) ID[[:space:]]*:[[:space:]]*([0-9]+).*/\2/p')
[ -n "$ids" ] || { printf '%s\n' "$list"; exit 0; }
"""


def of_each_card(query: str, more: str = "") -> str:
    """`npu-smi info -t <query> -i <id> <more>` of each card in turn, each behind a line `== card <id>`."""
    return f"""{_THERE}{LIMITED}{_CARDS}
for id in $ids; do
  printf '== card %s\\n' "$id"
  lim npu-smi info -t {query} -i "$id" {more} 2>&1
  ! stuck $? || break
done
exit 0
"""


TOOL = f"""{_THERE}{LIMITED}
limit=8
lim npu-smi info 2>&1
stuck $?
exit 0
"""
"""The table of all cards; that it does not come is an answer too, and the most telling one."""


def npu_smi(words: str) -> str:
    """One npu-smi call that is not about a single card."""
    return f"if command -v npu-smi >/dev/null 2>&1; then npu-smi {words}; else echo absent; fi"


HOLDERS = rf"""
[ "$(id -u)" = 0 ] && echo 'all yes' || echo 'all no'
tell() {{ # pid node
  name='' group=''
  read -r name <"/proc/$1/comm"
  group=$(grep -m1 -oE '[0-9a-f]{{64}}' "/proc/$1/cgroup")
  printf 'holder %s %s %s %s\n' "$1" "$2" "${{group:--}}" "$name"
  place=$(readlink "/proc/$1/cwd" | head -n 1)
  [ -z "$place" ] || printf 'at %s %s\n' "$1" "$place"
}} 2>/dev/null
for node in /dev/davinci[0-9]*; do
[ -e "$node" ] || break
ls -l /proc/[0-9]*/fd 2>/dev/null | awk '
  /^\/proc\/[0-9]+\/fd:$/ {{ split($0, part, "/"); pid = part[3] }}
  / -> \/dev\/davinci[0-9]+$/ {{ node = $NF; sub(".*davinci", "", node); print pid, node }}
' | sort -u | while read -r pid node; do tell "$pid" "$node"; done
break
done
if command -v npu-smi >/dev/null 2>&1; then
  {LIMITED}
  lim npu-smi info 2>/dev/null | awk -F '|' '$3 ~ /^ *[0-9]+ *$/ {{ print $3 + 0 }}' | sort -u |
  while read -r pid; do [ ! -d "/proc/$pid" ] || tell "$pid" -; done
fi
exit 0
"""
"""Who has a davinci node open (`holder <pid> <node> <container> <name>`, `at <pid> <folder>`), then the processes
npu-smi names."""

PREFIX = r"""
prefix=''
if [ -r /etc/ascend_install.info ]; then
  while read -r line; do
    case $line in Driver_Install_Path_Param=*) prefix=${line#*=} ;; esac
  done </etc/ascend_install.info
fi
prefix=${prefix:-/usr/local/Ascend}
first() { # files: the first that is there
  for file in "$@"; do
    [ -e "$file" ] || continue
    cat "$file"
    exit
  done
  echo absent
}
"""

INSTALL_INFO = f"{PREFIX} first /etc/ascend_install.info"
DRIVER = f'{PREFIX} first "$prefix/driver/version.info"'
FIRMWARE = f'{PREFIX} first "$prefix/firmware/version.info"'
TOOLKIT = PREFIX + (
    'first "$prefix"/cann/*-linux/ascend_toolkit_install.info '
    '"$prefix"/ascend-toolkit/latest/*-linux/ascend_toolkit_install.info '
    '"$HOME"/Ascend/cann/*-linux/ascend_toolkit_install.info '
    '"$HOME"/Ascend/ascend-toolkit/latest/*-linux/ascend_toolkit_install.info'
)
OPERATORS = PREFIX + (
    'first "$prefix"/cann/*-linux/ascend_ops_install.info "$HOME"/Ascend/cann/*-linux/ascend_ops_install.info '
    '"$prefix"/ascend-toolkit/latest/version.cfg "$HOME"/Ascend/ascend-toolkit/latest/version.cfg'
)
NNAL = f'{PREFIX} first "$prefix"/nnal/atb/latest/version.info "$HOME"/Ascend/nnal/atb/latest/version.info'

HCCN_CONF = f"{PREFIX} first /etc/hccn.conf"

HCCN = rf"""{PREFIX}
tool=$(command -v hccn_tool) || tool=$prefix/driver/tools/hccn_tool
[ -x "$tool" ] || {{ echo absent; exit 0; }}
{LIMITED}
nodes=$(ls /dev | sed -n 's/^davinci\([0-9][0-9]*\)$/\1/p' | sort -n)
[ -n "$nodes" ] || {{ echo absent; exit 0; }}
for id in $nodes; do
  printf '== card %s\n' "$id"
  for query in ip link net_health tls; do
    lim "$tool" -i "$id" -$query -g 2>&1
    ! stuck $? || break 2
  done
done
exit 0
"""

PACKAGES = r"""
python=${PILOT_PYTHON:-${PILOT_FOLDER:-}/runtimes/ascend-venv/bin/python}
[ -n "${PILOT_PYTHON:-}" ] || [ -x "$python" ] || python=python3
command -v "$python" >/dev/null 2>&1 || { echo absent; exit 0; }
"$python" -I -c '
import os, sys
wanted = ("vllm", "vllm-ascend", "torch", "torch-npu", "torchvision", "torchaudio", "triton", "triton-ascend",
          "transformers", "numpy", "modelscope", "mooncake-transfer-engine")
found = {}
for folder in sys.path:
    for entry in os.listdir(folder) if os.path.isdir(folder) else ():
        name, mark, ending = entry.rpartition(".")
        if ending in ("dist-info", "egg-info"):
            name, dash, version = name.partition("-")
            version = version.partition("-py")[0] if ending == "egg-info" else version
            found.setdefault(name.lower().replace("_", "-").replace(".", "-"), version)
for name in wanted:
    if name in found:
        print(name + "==" + found[name])
if not any(name in found for name in wanted):
    print("absent")
'
"""
"""Of the Python "$PILOT_PYTHON", else of the engine that the console installed below "$PILOT_FOLDER", else of python3:
the names of the folders that pip leaves, without importing anything."""
