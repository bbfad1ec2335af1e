"""Quality on real data: what recall finds, beside BM25 in the same run."""
