"""The same algorithm by other means: what doxa's core is timed against, on identical answers."""
