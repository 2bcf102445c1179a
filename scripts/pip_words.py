"""What pip printed when it failed -> a sentence for whoever started the console."""

import os
import re

from tell import either

LAST_LINES = 6
DOWNLOAD = "python3 -m pip download --require-hashes --no-deps --only-binary :all: -d wheels -r {lock}"


def explain(printed: str, *, lock: str, wheels: str) -> str:
    """The first cause that `printed` shows, and what to do about it."""
    for pattern, sentence in _CAUSES:
        if re.search(pattern, printed):
            return sentence(printed, lock, wheels)
    return either("pip failed:", "pip 失败：") + "\n" + _tail(printed)


def _room(_printed: str, _lock: str, _wheels: str) -> str:
    return either(
        "The disk became full while the packages were installed. Make room, or set TMPDIR to a folder on a larger "
        "disk, and start again.",
        "安装软件包时磁盘已满。请清理空间，或把 TMPDIR 指向更大磁盘上的目录，然后重新启动。",
    )


def _proxy(_printed: str, _lock: str, _wheels: str) -> str:
    seen = proxies()
    named = (
        either(f"It is set by {seen}.", f"它由 {seen} 设置。")
        if seen
        else either(
            "It is set in pip's own configuration (python3 -m pip config list).",
            "它设置在 pip 自己的配置中（python3 -m pip config list）。",
        )
    )
    return either(
        f"The proxy for downloads does not work. {named} Correct or unset it and start again.",
        f"下载所用的代理无法使用。{named}请更正或取消该设置后重新启动。",
    )


def _certificate(_printed: str, _lock: str, _wheels: str) -> str:
    return either(
        "The certificate of the package index was not accepted. If your company inspects traffic, point PIP_CERT to "
        "its CA file and start again; also check that the clock of this machine is right.",
        "软件包索引的证书未被接受。若公司网络会检查流量，请用 PIP_CERT 指向其 CA 文件后重新启动；"
        "同时请检查本机时间是否正确。",
    )


def _hash(printed: str, _lock: str, _wheels: str) -> str:
    return (
        either(
            "A downloaded package is not the one that was tested (its checksum differs), so nothing was installed. The "
            "index or mirror served another or a damaged file; use another mirror (PIP_INDEX_URL) and start again.",
            "下载的软件包与测试过的不一致（校验和不同），因此未安装任何内容。索引或镜像提供了其他文件或损坏的文件；"
            "请更换镜像（PIP_INDEX_URL）后重新启动。",
        )
        + "\n"
        + _tail(printed)
    )


def _network(_printed: str, lock: str, _wheels: str) -> str:
    command = DOWNLOAD.format(lock=lock)
    return either(
        "No package index answered, and the packages are not cached on this machine.\n"
        "With a mirror in your network: set PIP_INDEX_URL to it and start again.\n"
        f"Without any: on a machine with internet, the same processor type and the same Python version, "
        f"run\n  {command}\n"
        "bring the folder `wheels` here and start with --wheels wheels.",
        "没有软件包索引应答，本机也没有缓存这些软件包。\n"
        "如果内网有镜像：把 PIP_INDEX_URL 设为其地址后重新启动。\n"
        f"如果没有：在一台能上网、处理器类型和 Python 版本都相同的机器上运行\n  {command}\n"
        "把 wheels 目录带到本机，再用 --wheels wheels 启动。",
    )


def _missing(printed: str, lock: str, wheels: str) -> str:
    found = re.search(r"No matching distribution found for (\S+)", printed)
    package = found.group(1) if found else "?"
    if wheels:
        command = DOWNLOAD.format(lock=lock)
        return either(
            f"The folder {wheels} lacks {package} for this Python and processor. Fill it on a machine with internet, "
            f"the same processor type and the same Python version:\n  {command}",
            f"目录 {wheels} 中缺少适用于当前 Python 和处理器的 {package}。请在一台能上网、处理器类型和 Python 版本"
            f"都相同的机器上补齐：\n  {command}",
        )
    return either(
        f"The package index did not answer, or carries no {package} for this Python and processor. A mirror may lag "
        "behind: use another one (PIP_INDEX_URL), or start with --wheels FOLDER.",
        f"软件包索引没有应答，或其中没有适用于当前 Python 和处理器的 {package}。镜像可能尚未同步："
        "请更换镜像（PIP_INDEX_URL），或用 --wheels 目录 启动。",
    )


_CAUSES = (
    (r"No space left on device|Disk quota exceeded", _room),
    (r"ProxyError|Cannot connect to proxy|Tunnel connection failed|Unable to determine SOCKS version", _proxy),
    (r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError|SSLError", _certificate),
    (r"DO NOT MATCH THE HASHES", _hash),
    (
        r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|name resolution|Connection (refused|reset|aborted)"
        r"|Network is unreachable|Max retries exceeded|RemoteDisconnected|timed out",
        _network,
    ),
    (r"No matching distribution found|No such file or directory: .*\.whl", _missing),
)


def proxies() -> str:
    """The proxy variables that are set, without the passwords in them."""
    names = ("PIP_PROXY", "https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    return ", ".join(f"{name}={_masked(os.environ[name])}" for name in names if os.environ.get(name))


def _masked(address: str) -> str:
    return re.sub(r"(?<=//)[^/@]+@", "***@", address)


def _tail(printed: str) -> str:
    lines = [_masked(line) for line in printed.splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in lines[-LAST_LINES:])
