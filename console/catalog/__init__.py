"""What we know: chips, releases, packages, models and pins, as dated YAML with sources."""
