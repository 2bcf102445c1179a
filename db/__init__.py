"""The console's memory: one SQLite file, its tables, and how it moves from one schema version to the next."""
