"""What the check of a step prints when the wished state is not there, as a sentence in the reader's language.

The scripts print English, which is what their logs and results hold; the same sentences stand here once more.
"""

import functools
import re
from collections.abc import Mapping

from console.text import Text, Value, say, verbatim

SENTENCES = (
    say("Cards are in use: {held}"),
    say("Missing for a container: {files}"),
    say("Driver: {seen}, wanted {wanted}"),
    say("There is no Docker"),
    say("Docker does not answer"),
    say("There is no firmware"),
    say("Firmware: {seen}, wanted {wanted}"),
    say("There is no list of packages yet"),
    say("No headers of kernel {kernel}"),
    say("The image {image} is not there"),
    say("No container was tried yet"),
    say("No container was tried with this image and this driver"),
    say("npu-smi shows no NPU"),
    say("There is no environment yet"),
    say("No server was tried yet"),
    say("No server was tried with these packages and this driver"),
    say("The list of packages has changed"),
    say("The hashes of the list are not there, or others"),
    say("NNAL {version} is not in {folder}"),
    say("NNAL has no environment script"),
    say("Operators: {seen}, wanted {wanted}"),
    say("The operators that are there are {seen}, not {wanted}"),
    say("No operators"),
    say("Not looked at yet"),
    say("Installed by the console: {what}"),
    say("{folder} is there"),
    say("Since the last restart driver or firmware were changed"),
    say("Running driver: {seen}, wanted {wanted}"),
    say("the list of packages was never finished"),
    say("the image {image} is not there any more"),
    say("Missing packages of the system: {names}"),
    say("CANN toolkit in {folder}: {seen}, wanted {wanted}"),
    say("There is no user HwHiAiUser"),
    say("{user} is not in the group HwHiAiUser"),
    say("There is no environment at {folder}"),
    say("The environment was made for another stack"),
    say("There is no runtime at {folder}"),
    say("The runtime at {folder} was not finished"),
    say("there is no list of files yet"),
    say("missing, or not as the hub has it: {file}"),
    say("{good} of {all} packages as wished"),
)
NONE = {"none": say("none")}
"""Values that are words of ours."""


def check_said(line: str) -> Text:
    """The sentence that says this line in every language; the line itself where it is not one of ours."""
    for sentence, pattern in _patterns().items():
        if found := pattern.fullmatch(line.strip()):
            values: Mapping[str, Value | Text] = {
                name: NONE.get(seen, seen) for name, seen in found.groupdict().items()
            }
            return Text(sentence, values)
    return verbatim(line)


@functools.cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """By sentence; those with the most words of their own first, so that none takes what is another's."""
    own = sorted((one.sentence for one in SENTENCES), key=lambda one: -len(re.sub(r"\{\w+\}", "", one)))
    return {one: re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(one))) for one in own}
