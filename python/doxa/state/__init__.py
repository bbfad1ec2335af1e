"""State: the fold of operations into tables and core."""
