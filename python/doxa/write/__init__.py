"""Admission: from what a caller gives to rows of the journal."""
