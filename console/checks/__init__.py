"""What we make of a host's facts: one file per area, each check a pure judgement with evidence and a fix."""
