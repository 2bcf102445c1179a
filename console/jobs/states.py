"""The states of jobs and steps, and which moves exist.

Job    queued ----------> running ------> succeeded          the worker starts and ends it
         ^                 ^   |--------> failed             a step failed, or the worker could not go on
         |                 |   |--------> cancelled          a person asked; the worker ended the step
         |                 v   |
         |               waiting          the worker asks; a person answers (-> running) or cancels
         +---- failed | cancelled         a person resumes: attempt + 1, finished steps are kept
       queued -> cancelled                a person, before the worker took it

Step   waiting -> satisfied               the worker: verify passed beforehand, nothing was run
               -> skipped                 a person, with a reason
               -> running -> ok           the worker: script done and verify passes
                          -> failed       the worker: exit code, time limit, or verify does not pass
                          -> cancelled    the worker, for a person
                          -> waiting      the worker: the script asked a question
       failed | cancelled -> waiting      a person resumes or retries
"""

from enum import StrEnum


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepState(StrEnum):
    WAITING = "waiting"
    SATISFIED = "satisfied"
    SKIPPED = "skipped"
    RUNNING = "running"
    OK = "ok"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE = (JobState.QUEUED, JobState.RUNNING, JobState.WAITING)
RESUMABLE = (JobState.FAILED, JobState.CANCELLED)
FINISHED_STEPS = (StepState.SATISFIED, StepState.SKIPPED, StepState.OK)
