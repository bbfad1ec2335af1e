"""Upkeep: retirement and restoring, checkpoints, compaction, verification."""

from doxa.upkeep.room import Upkeep

__all__ = ["Upkeep"]
