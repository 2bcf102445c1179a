"""The commands that ask about the machine around the NPUs: hardware, kernel, limits and network, as POSIX shell."""

from console.facts.local import ROOMS

ROOMS_TOO = f"""{ROOMS}
room cann /usr/local/Ascend
room shm /dev/shm
room root /
"""
"""The rooms asked of every host, then those that matter on a host with NPUs."""

DISKS = "lsblk -o NAME,SIZE,TYPE,FSTYPE,MOUNTPOINT"

NICS = r"""
for at in /sys/class/net/*; do
  [ -e "$at/device" ] || continue
  name=${at##*/}
  if command -v ethtool >/dev/null 2>&1 && ethtool "$name" 2>/dev/null; then continue; fi
  printf 'Settings for %s:\n' "$name"
  speed=$(cat "$at/speed" 2>/dev/null)
  case $speed in ''|-*) speed='Unknown!' ;; *) speed=${speed}Mb/s ;; esac
  link=no
  [ "$(cat "$at/carrier" 2>/dev/null)" != 1 ] || link=yes
  printf '\tSpeed: %s\n\tLink detected: %s\n' "$speed" "$link"
done
echo end
"""
"""Physical interfaces; where ethtool is missing or refuses, the same lines from /sys."""

RDMA = r"""
if command -v ibv_devinfo >/dev/null 2>&1; then ibv_devinfo
elif ls /sys/class/infiniband/* >/dev/null 2>&1; then
  for at in /sys/class/infiniband/*; do
    printf 'hca_id:\t%s\n' "${at##*/}"
    for port in "$at"/ports/*; do
      printf '\t\tport:\t%s\n\t\t\tstate:\t\t%s\n' "${port##*/}" "PORT_$(cut -d ' ' -f 2 "$port/state")"
      printf '\t\t\tlink_layer:\t\t%s\n' "$(cat "$port/link_layer")"
    done
  done
else echo absent; fi
"""

HEADERS = r"""
running=$(uname -r)
at=/lib/modules/$running/build
printf 'running %s\n' "$running"
[ ! -e "$at/Makefile" ] || printf 'headers %s\n' "$at"
for other in /lib/modules/*/build; do
  [ -e "$other/Makefile" ] || continue
  other=${other%/build}
  printf 'other %s\n' "${other##*/}"
done
exit 0
"""

GOVERNORS = r"""
echo begin
cat /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor 2>/dev/null | sort | uniq -c
exit 0
"""

HUGE = "cat /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo absent"

ULIMITS = r"""
for which in n l; do
  printf '%s %s %s\n' "$which" "$(ulimit -S -$which)" "$(ulimit -H -$which)"
done
"""

SYSCTLS = r"""
for name in vm/swappiness kernel/numa_balancing vm/max_map_count; do
  [ ! -r "/proc/sys/$name" ] || printf '%s=%s\n' "$name" "$(cat "/proc/sys/$name")"
done
echo end=0
"""

TOOLS = r"""
echo begin
for name in gcc g++ make cmake dkms numactl git curl taskset; do
  command -v "$name" >/dev/null 2>&1 && echo "$name"
done
ldconfig -p 2>/dev/null | grep -q libjemalloc && echo jemalloc
exit 0
"""

TIME_SYNC = r"""
echo begin
timedatectl show -p NTP -p NTPSynchronized 2>/dev/null
chronyc -n tracking 2>/dev/null
exit 0
"""

PROXIES = r"""
echo begin
env | grep -iE '^(https?|ftp|all|no)_proxy=' | sed 's#://[^/@]*@#://***@#'
exit 0
"""
"""A name and a password in an address never leave the host."""

RESOLVERS = "cat /etc/resolv.conf 2>/dev/null || echo absent"

GUARDS = r"""
printf 'selinux %s\n' "$(getenforce 2>/dev/null || echo absent)"
names='firewalld ufw nftables iptables '
for state in $(systemctl is-active $names 2>/dev/null); do
  printf 'firewall %s %s\n' "${names%% *}" "$state"
  names=${names#* }
done
exit 0
"""

NPU_USER = r"""
printf 'user %s\n' "$(id -un)"
printf 'uid %s\n' "$(id -u)"
printf 'groups %s\n' "$(id -Gn)"
id HwHiAiUser >/dev/null 2>&1 && echo 'owner HwHiAiUser'
exit 0
"""

DOCKER = r"""
command -v docker >/dev/null 2>&1 || { echo absent; exit 0; }
docker info --format 'server {{.ServerVersion}}
default {{.DefaultRuntime}}
runtimes {{range $name, $one := .Runtimes}}{{$name}} {{end}}' 2>&1
exit 0
"""

CONTAINERS = r"""
command -v docker >/dev/null 2>&1 || { echo absent; exit 0; }
echo begin
docker ps --no-trunc --format '{{.ID}} {{.Names}} {{.Image}}' 2>&1
exit 0
"""
