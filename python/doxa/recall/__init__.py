"""Recall: from options to the core and back to hits."""
