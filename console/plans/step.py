"""One idempotent change to a host, as text that can be read before it runs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from console.text import Text, from_json, to_json

ASK_EXIT_CODE = 75
"""A script that must ask a person writes its question to the file `ask` in its working folder and exits with this
code (EX_TEMPFAIL). The job goes to *waiting*; after the answer the same script runs again with the answer in
the variable `PILOT_ANSWER`."""


@dataclass(frozen=True)
class Step:
    """What one step does.

    name      short and stable within its job, letters, digits and dashes ("install-torch")
    title     what a person reads in the list
    script    POSIX shell, run by `sh` detached on the host in a folder of its own; exit code 0 = done
    verify    POSIX shell that changes nothing; exit code 0 = the wished state is there already. Runs before the
              script (passes: satisfied, script not run) and after it (fails: the step failed). Empty: run always.
    action    instead of a script, or around it: the name of something the console itself does (see
              console/jobs/actions.py)
    arguments JSON values for the action
    expected_s, timeout_s   seconds; expected is shown beside the elapsed time, timeout ends the step
    rollback  how a person takes the step back, where that can be done
    """

    name: str
    title: Text
    script: str = ""
    verify: str = ""
    action: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    expected_s: float = 5
    timeout_s: float = 600
    rollback: Text | None = None

    def to_json(self) -> dict[str, object]:
        rollback = None if self.rollback is None else to_json(self.rollback)
        texts = {"title": to_json(self.title), "rollback": rollback}
        return {**asdict(self), **texts, "arguments": dict(self.arguments)}

    @staticmethod
    def from_json(stored: Mapping[str, object]) -> "Step":
        fields = dict(stored)
        fields["title"] = from_json(str(fields["title"]))
        if (rollback := fields.get("rollback")) is not None:
            fields["rollback"] = from_json(str(rollback))
        return Step(**fields)  # type: ignore[arg-type]
