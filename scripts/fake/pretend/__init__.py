"""The programs of a rehearsal host: what they say follows from a scenario and from what was done to the host."""
