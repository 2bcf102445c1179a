"""`dnf`, `yum` and `rpm`: the same package database, in the words of the RPM family."""

import fnmatch
import sys

from pretend import packages, place, users

VERBS = ("install", "remove", "erase", "list", "makecache", "clean", "check-update", "repoquery", "info")


def main(name: str, words: list[str]) -> int:
    played = place.scenario()
    if played["system"]["family"] == "debian":
        print(f"{name}: command not found", file=sys.stderr)
        return 127
    if name == "rpm":
        return _rpm(words)
    given = [word for word in words if word.startswith("-")]
    rest = [word for word in words if not word.startswith("-")]
    verb, wanted = (rest or [""])[0], rest[1:]
    if verb not in VERBS:
        print(f"No such command: {verb}. Please use /usr/bin/dnf --help", file=sys.stderr)
        return 1
    if verb == "list":
        return _list(wanted, "--installed" in given or "installed" in wanted)
    if verb not in ("install", "remove", "erase"):
        print("Metadata cache created." if verb == "makecache" else "")
        return 0
    simulated = "--assumeno" in given or "--downloadonly" in given
    if users.current().uid and not simulated:
        print("Error: This command has to be run with superuser privileges (under the root user on most systems).")
        return 1
    return _install(wanted, simulated) if verb == "install" else _remove(wanted, simulated)


def _install(wanted: list[str], simulated: bool) -> int:
    installed = packages.installed()
    new = [name for name in wanted if name not in installed]
    for name in [name for name in wanted if name in installed]:
        print(f"Package {name}-{installed[name]}.aarch64 is already installed.")
    unknown = [name for name in new if packages.version(name) is None]
    for name in unknown:
        print(f"No match for argument: {name}")
    if unknown:
        print(f"Error: Unable to find a match: {' '.join(unknown)}", file=sys.stderr)
        return 1
    if new and packages.is_offline():
        print("Errors during downloading metadata for repository 'OS':\n"
              "  - Curl error (6): Couldn't resolve host name\n"
              "Error: Failed to download metadata for repo 'OS'", file=sys.stderr)  # fmt: skip
        return 1
    return _done("Install", new, {name: packages.version(name) for name in new}, simulated)


def _remove(wanted: list[str], simulated: bool) -> int:
    installed = packages.installed()
    gone = [name for name in wanted if name in installed]
    for name in [name for name in wanted if name not in installed]:
        print(f"No match for argument: {name}")
    return _done("Remove", gone, {name: installed[name] for name in gone}, simulated)


def _done(verb: str, names: list[str], versions: place.Data, simulated: bool) -> int:
    if not names:
        print("Dependencies resolved.\nNothing to do.\nComplete!")
        return 0
    print(f"Dependencies resolved.\n{'Installing' if verb == 'Install' else 'Removing'}:")
    print("\n".join(f" {name:<32} aarch64  {versions[name]:<24} OS" for name in names))
    print(f"\nTransaction Summary\n{verb:<8} {len(names)} Packages")
    if simulated:
        print("Operation aborted.")
        return 1
    packages.change(**({"add": names} if verb == "Install" else {"remove": names}))
    print(f"\n{'Installed' if verb == 'Install' else 'Removed'}:")
    print("\n".join(f"  {name}-{versions[name]}.aarch64" for name in names) + "\n\nComplete!")
    return 0


def _list(wanted: list[str], only_installed: bool) -> int:
    patterns = [word for word in wanted if word not in ("installed", "available")]
    found = {name: value for name, value in packages.installed().items() if _fits(name, patterns)}
    if found:
        print(
            "Installed Packages\n"
            + "\n".join(f"{name + '.aarch64':<40}{value:<28}@OS" for name, value in found.items())
        )
        return 0
    print("Error: No matching Packages to list", file=sys.stderr)
    return 1


def _fits(name: str, patterns: list[str]) -> bool:
    return not patterns or any(fnmatch.fnmatch(name, one) for one in patterns)


def _rpm(words: list[str]) -> int:
    flags = "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    template = next(
        (words[index + 1] for index, word in enumerate(words[:-1]) if word in ("--qf", "--queryformat")), ""
    )
    wanted = [word for word in words if not word.startswith("-") and word != template]
    if "q" not in flags:
        print(f"rpm: {' '.join(words)} is not simulated on a rehearsal host.", file=sys.stderr)
        return 1
    installed = packages.installed()
    names = [name for name in installed if _fits(name, wanted)] if "a" in flags else wanted
    code = 0
    for name in names:
        if name not in installed:
            print(f"package {name} is not installed")
            code = 1
        elif template:
            text = (
                template.replace("%{NAME}", name).replace("%{VERSION}", installed[name]).replace("%{ARCH}", "aarch64")
            )
            print(text.replace("\\n", "\n"), end="")
        else:
            print(f"{name}-{installed[name]}.aarch64")
    return code
