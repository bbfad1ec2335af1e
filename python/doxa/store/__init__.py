"""The store on disk: files, frames, journal, checkpoints, locks, recovery.

Knows bytes and rows, not what an operation means.
"""

from doxa.store.checkpoint import Checkpoint, TableFile
from doxa.store.files import File, Files, MemoryFiles, RealFiles
from doxa.store.frames import Commit, Row, Text
from doxa.store.repair import RepairReport, repair
from doxa.store.reports import RecoveryReport, VerifyReport
from doxa.store.store import Store

__all__ = [
    "Checkpoint",
    "Commit",
    "File",
    "Files",
    "MemoryFiles",
    "RealFiles",
    "RecoveryReport",
    "RepairReport",
    "Row",
    "Store",
    "TableFile",
    "Text",
    "VerifyReport",
    "repair",
]
