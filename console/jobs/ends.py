"""The ways in which carrying out a step ends before its time."""

from console.text import Text


class Cancelled(Exception):
    """A person asked for the end of this job; `reason` where something must be known about how it ended."""

    def __init__(self, reason: Text | None = None) -> None:
        super().__init__("" if reason is None else str(reason))
        self.reason = reason


class LetGo(Exception):
    """The worker is going down: leave everything as it is, the next worker adopts it."""


class StepFailed(Exception):
    """Why the step failed, and the exit code when there is one."""

    def __init__(self, reason: Text, code: int | None = None) -> None:
        super().__init__(str(reason))
        self.reason, self.code = reason, code
