"""From exposition text to samples, windows and percentiles."""
