"""What can be wrong with a folder of weights: each problem says what was seen, why it matters and what to do."""

from dataclasses import dataclass, field
from enum import StrEnum

from console.text import Text, say


class Trap(StrEnum):
    """The kinds of problems; their names are stable, for scripts that read them."""

    NO_FOLDER = "no_folder"
    PATH = "path"
    PERMISSIONS = "permissions"
    LINKS = "links"
    CONFIG = "config"
    TOKENIZER = "tokenizer"
    CHAT_TEMPLATE = "chat_template"
    CUSTOM_CODE = "custom_code"
    UNFINISHED = "unfinished"
    NO_WEIGHTS = "no_weights"
    INDEX = "index"
    MISSING_SHARDS = "missing_shards"
    OTHER_CASE = "other_case"
    CUT_SHARD = "cut_shard"
    BROKEN_SHARD = "broken_shard"
    MIXED_SHARDS = "mixed_shards"
    LFS_POINTER = "lfs_pointer"
    DESCRIPTION = "quantization_description"
    QUANTIZATION = "quantization"


@dataclass(frozen=True)
class Problem:
    """Something about the folder; with an error it must not be started."""

    trap: Trap
    is_error: bool
    seen: Text
    why: Text
    fix: Text

    @property
    def text(self) -> Text:
        """All of it in one paragraph."""
        return say("{seen} {why} {fix}", seen=self.seen, why=self.why, fix=self.fix)


@dataclass
class Problems:
    """Collects them in the order they are met."""

    found: list[Problem] = field(default_factory=list)

    def error(self, trap: Trap, seen: Text, why: Text, fix: Text) -> None:
        self.found.append(Problem(trap, True, seen, why, fix))

    def warn(self, trap: Trap, seen: Text, why: Text, fix: Text) -> None:
        self.found.append(Problem(trap, False, seen, why, fix))


def pointer(name: str) -> Problem:
    """A clone without Git LFS leaves such files, a few lines long."""
    return Problem(
        Trap.LFS_POINTER,
        True,
        say("{name} is only a pointer of Git LFS, not the file itself.", name=name),
        say("vLLM would read the pointer's few lines of text as the file and stop."),
        say("Fetch the files with `git lfs pull`, or download the model again."),
    )
