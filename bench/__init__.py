"""Benchmarks of doxa: speed against references in the same run, and recall on real data."""
