"""What a tool prints instead of an answer: which kind of trouble it is, its code, and what that means."""

import re
from dataclasses import dataclass

from console.facts.lines import lines
from console.text import Text, say, verbatim


@dataclass(frozen=True)
class Trouble:
    """An error output. `error_kind` is a stable word, `code` the tool's own number, `line` what was printed."""

    error_kind: str
    message: Text
    code: int | None = None
    line: str = ""
    status: str = "error"


_CODE = re.compile(r"\bret(?:urn)?(?:\s+(?:is|code|value)|\s*[=:])?\s*[=:]?\s*\(?\s*(-\d{3,5})\b", re.IGNORECASE)

# Names of the codes: enum of dcmi_interface_api.h in the public driver sources (DCMI_ERROR_CODE_BASE is -8000).
_KIND_OF_CODE = {
    -8001: "invalid_parameter",
    -8002: "permission_denied",
    -8005: "driver_not_ready",
    -8006: "timeout",
    -8007: "no_such_device",
    -8008: "no_such_device",
    -8009: "driver_not_ready",
    -8012: "driver_not_ready",
    -8013: "not_supported_here",
    -8017: "device_busy",
    -8020: "device_busy",
    -8255: "not_supported_here",
}

_MEANING: dict[str, Text] = {
    "driver_not_ready": say(
        "The NPU driver does not answer: it is not loaded, does not fit the firmware, waits for a reboot, or this user "
        "may not use it. It printed: {line}"
    ),
    "device_busy": say("An NPU asked for is held by another container or process. The tool printed: {line}"),
    "timeout": say("The command did not finish: the driver, or a library in front of it, hangs. It printed: {line}"),
    "tool_missing": say(
        "The tool is not on the PATH: it is not installed, or its folder (such as /usr/local/sbin) is missing from "
        "PATH. The shell printed: {line}"
    ),
    "not_supported_here": say("This chip, container or virtual machine does not support the query: {line}"),
    "permission_denied": say("This user may not do that: {line}"),
    "library_missing": say("The tool starts, but a library it needs is not found: {line}"),
    "not_a_file": say(
        "There is a directory where a file should be; Docker makes one when the file to mount is missing on the host. "
        "The tool printed: {line}"
    ),
    "missing": say("The file or folder does not exist: {line}"),
    "no_such_device": say("The device asked for does not exist here: {line}"),
    "invalid_parameter": say("The tool refused the question: {line}"),
    "failed": say("The tool reported a failure: {line}"),
    "unreadable": say("The output could not be understood. It begins: {line}"),
}

# First match wins, so that the cause stands before its consequences.
_SIGNS: tuple[tuple[str, str], ...] = (
    ("library_missing", r"error while loading shared librar|cannot open shared object file|symbol lookup error"),
    ("timeout", r"^Initialize SchedulerClient|timed?[ -]?out\b|超时"),
    ("device_busy", r"because the device is used|device or resource busy|is busy|设备或资源忙"),
    ("not_supported_here", r"does not support|not supported?\b|unsupported|不支持"),
    ("permission_denied", r"permission denied|operation not permitted|must be root|are you root|权限不够|不允许的操作"),
    ("tool_missing", r"command not found|: not found$|未找到命令|找不到命令|command .*not found|没有该命令"),
    ("not_a_file", r"\bis a directory|是一个目录"),
    ("missing", r"no such file or directory|cannot access|没有那个文件或目录"),
    (
        "no_such_device",
        r"no such device|(?:device|npu|card)\b.* (?:not exist|does not exist|is invalid)|no devices? found",
    ),
    (
        "driver_not_ready",
        r"dcmi (?:module|model) initiali[sz]ed? failed|drvmng\w* failed|driver .*not (?:loaded|ready)",
    ),
    ("failed", r"\b(?:fail(?:ed|ure)?|error|usage)\b[:.! ]?|失败|错误"),
)


def find_trouble(text: str) -> Trouble | None:
    """The trouble `text` tells about, or None. Only meaningful for a text in which no answer was found."""
    rows = [row.strip() for row in lines(text) if row.strip()]
    for row in rows:
        code = _CODE.search(row)
        if code and int(code.group(1)) in _KIND_OF_CODE:
            return _trouble(_KIND_OF_CODE[int(code.group(1))], row, int(code.group(1)))
    for kind, sign in _SIGNS:
        for row in rows:
            if re.search(sign, row, re.IGNORECASE):
                code = _CODE.search(row)
                return _trouble(kind, row, int(code.group(1)) if code else None)
    return None


def trouble_in(text: str) -> Trouble:
    """Like `find_trouble`, for a text that must be an error: empty and unreadable are kinds of their own."""
    found = find_trouble(text)
    if found:
        return found
    rows = [row.strip() for row in lines(text) if row.strip()]
    if not rows:
        return Trouble("empty", say("The command printed nothing."))
    return _trouble("unreadable", rows[0], None)


def _trouble(kind: str, line: str, code: int | None) -> Trouble:
    meaning = _MEANING.get(kind, _MEANING["unreadable"])
    return Trouble(kind, Text(meaning.sentence, {"line": verbatim(line)}), code, line)
