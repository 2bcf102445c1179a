# Shared by every step on a host with NPUs; the quoted values above come from the plan.
set -eu
PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin"
export LC_ALL=C
unset PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV
export PYTHONNOUSERSITE=1 PYTHONUNBUFFERED=1 PYTHONIOENCODING=utf-8 PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1
prefix=${prefix:-$HOME/Ascend}
notes="$work/installs"
py="$venv/bin/python"

fail() { printf '%s\n' "$*" >&2; exit 1; }

# root COMMAND...: as root, in the way this host allows. A password, where one is needed, was arranged for before this.
case $as_root in
    root) root() { "$@"; } ;;
    sudo) command -v root >/dev/null 2>&1 || root() { if [ -t 0 ]; then sudo -- "$@"; else sudo -n -- "$@"; fi; } ;;
    none) root() { fail "This needs root, and $login has neither root nor sudo here. $for_admin"; } ;;
esac
for_admin='Ask an administrator of this host to do what this step does, then run it again: it is skipped once done.'

# field FILE KEY: the value in a file of key=value lines; nothing when there is none.
field() { sed -n "s/^$2=//p" "$1" 2>/dev/null | head -n 1; }

# at_least SEEN WANTED: whether a version is not older; a release candidate is older than its release.
at_least() {
    [ -n "$1" ] || return 1
    older=$(printf '%s\n%s\n' "$1" "$2" | tr '[:upper:]' '[:lower:]' | sed 's/\.rc/~rc/' | sort -V | head -n 1)
    [ "$older" = "$(printf '%s' "$2" | tr '[:upper:]' '[:lower:]' | sed 's/\.rc/~rc/')" ]
}

hdk=$(field /etc/ascend_install.info Driver_Install_Path_Param)
hdk=${hdk:-/usr/local/Ascend}
driver_version() {
    seen=$(field "$hdk/driver/version.info" package_version)
    [ -n "$seen" ] || seen=$(field "$hdk/driver/version.info" Version)
    printf '%s' "$seen"
}
# The file of the firmware is for root alone on some hosts; then what this plan noted when it installed it counts.
firmware_version() {
    seen=$(field "$hdk/firmware/version.info" Version)
    if [ -n "$seen" ] || [ ! -e "$hdk/firmware" ]; then printf '%s' "$seen"; else cat "$notes/firmware" 2>/dev/null || true; fi
}
# The driver that runs now, as npu-smi says in the first line of its table.
running_driver() { timeout 60 npu-smi info 2>/dev/null | sed -n 's/^.*npu-smi \([0-9][^ ]*\).*$/\1/p' | head -n 1; }

boot_id() { cat /proc/sys/kernel/random/boot_id; }
# noted WHAT VERSION: keeps in mind what this console installed here, so that it removes nothing else one day.
noted() { mkdir -p "$notes"; printf '%s\n' "$2" >"$notes/$1.part"; mv "$notes/$1.part" "$notes/$1"; }
# Of what may be there in several versions each has its line, the newest last.
brought() { mkdir -p "$notes"; rest=$(forgetting "$1" "$2"); noted "$1" "${rest:+$rest
}$2"; }
was_brought() { grep -qxF -e "$2" "$notes/$1" 2>/dev/null; }
forgetting() { grep -vxF -e "$2" "$notes/$1" 2>/dev/null || true; }
forget() { rest=$(forgetting "$1" "$2"); if [ -n "$rest" ]; then noted "$1" "$rest"; else rm -f "$notes/$1"; fi; }
restart_due() { noted restart "$(boot_id)"; }

# holders: one line for each process that holds a card: its number, its name, and its container if it has one.
holders() {
    {
        timeout 60 npu-smi info 2>/dev/null |
            awk -F'|' '/Process id/ {on = 1; next} on && $3 ~ /^ *[0-9]+ *$/ {gsub(/ /, "", $3); print $3}' || true
        ls -l /proc/[0-9]*/fd 2>/dev/null |
            awk -F'[/:]' '/^\/proc\// {pid = $3} /-> \/dev\/davinci[0-9]/ {print pid}' || true
    } | sort -un | while read -r pid; do
        name=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c 1-120) || name=''
        box=''
        if command -v docker >/dev/null 2>&1; then
            for id in $(docker ps -q 2>/dev/null); do
                if grep -q "$id" "/proc/$pid/cgroup" 2>/dev/null ||
                    [ "$(docker inspect -f '{{.State.Pid}}' "$id" 2>/dev/null)" = "$pid" ]; then
                    box=" in the container $(docker inspect -f '{{.Name}}' "$id" 2>/dev/null | sed 's,^/,,')"
                fi
            done
        fi
        printf '  process %s (%s)%s\n' "$pid" "${name:-?}" "$box"
    done
}
# cards_free WHAT: stops before something that must not run while a card is in use, and names who uses it.
cards_free() {
    held=$(holders)
    [ -z "$held" ] || fail "Cards of this host are in use, so $1 now would break what runs on them:
$held
Stop it, or wait until it has ended, then run this step again."
}

# runs_from FOLDER: up to five processes whose command names FOLDER, in one line; the list is made before it is searched.
runs_from() {
    for each in /proc/[0-9]*; do
        if { tr '\0' ' ' <"$each/cmdline"; } 2>/dev/null | grep -qF "$1"; then printf '%s ' "${each#/proc/}"; fi
    done | cut -d ' ' -f 1-5
}

# package_here NAME: the path of a package in the folder of packages, whole; else what is missing.
package_here() {
    [ -f "$packages/$1" ] || {
        near=$(cd "$packages" 2>/dev/null && ls -- *.run 2>/dev/null | head -n 20 | sed 's/^/  /') || near=''
        fail "The package $1 is not in $packages. Push the bundle of this host, or put the file there.
Packages that are there:
${near:-  none}"
    }
    case $1 in
        *.run)
            sh "$packages/$1" --check >/dev/null 2>&1 || fail "The package $1 in $packages is damaged: its own \
checksum does not match. Fetch it again and replace it."
            ;;
    esac
}

# Makes the files of CANN known to what follows; its scripts are written for bash.
cann_env='set +u
prefix=$1; shift
for each in "$prefix/cann" "$prefix/ascend-toolkit"; do
    if [ -r "$each/set_env.sh" ]; then . "$each/set_env.sh"; break; fi
done
if [ -r "$prefix/nnal/atb/set_env.sh" ]; then . "$prefix/nnal/atb/set_env.sh"; fi
exec "$@"'
with_cann() { bash -c "$cann_env" bash "$prefix" "$@"; }

# room MEBIBYTES FOLDER WHAT
room() {
    at=$2
    while [ ! -d "$at" ]; do at=$(dirname "$at"); done
    free=$(df -Pk "$at" | awk 'NR == 2 {print int($4 / 1024)}')
    [ "$free" -ge "$1" ] || fail "Not enough room for $3: it needs $1 MiB free at $at, there are $free MiB. Make room, \
then run this step again."
}
