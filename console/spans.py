"""A length of time in words."""

from console.text import Text, say, verbatim


def lasting(seconds: float | None) -> Text:
    """In at most two units: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h; a dash for None."""
    if seconds is None:
        return verbatim("–")
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return say("{n} s", n=f"{seconds:.1f}")
    whole = round(seconds)
    if whole < 60:
        return say("{n} s", n=whole)
    if whole < 3600:
        return say("{m} min {s} s", m=whole // 60, s=whole % 60)
    if whole < 86400:
        return say("{h} h {m} min", h=whole // 3600, m=whole % 3600 // 60)
    return say("{d} d {h} h", d=whole // 86400, h=whole % 86400 // 3600)
