"""What a host says: one file per tool, each with the read-only command and the function that understands its output."""
