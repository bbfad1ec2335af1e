"""Beliefs: entities and contexts, which propositions are about and hold in."""

from doxa.beliefs.room import Beliefs, Resolution

__all__ = ["Beliefs", "Resolution"]
