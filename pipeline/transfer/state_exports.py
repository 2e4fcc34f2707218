"""The exports in the state folder, written anew when something was forgotten (mission D8)."""

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from pipeline.rules.sealing import is_ours, is_sealed
from pipeline.transfer.documents import begin, stream
from storage.errors import MemoryServiceError
from storage.export_folder import ExportFolder, Marks, note_of, opened_export
from storage.repositories import snapshots

PASSES: Final = 3
"""How often an export is read anew while records change under it."""


def refresh_exports(folder: Path, owner: str) -> list[Path]:
    """Write every export of an owner below a folder anew from memory as it stands.

    Files of records that are gone go, edited ones too: what was forgotten must not stay in them.
    Links are never followed, and other owners' exports are left as they are.

    Args:
        folder: The folder of exports; it need not be there.
        owner: Whose.

    Returns:
        The folders and links that may hold some of the owner's memory and could not be written
        anew; another export may hold one at the moment. What else lies there, no export has written.
    """
    failed = []
    for path in _found(folder):
        try:
            if not _refresh(path, owner):
                failed.append(path)
        except (OSError, MemoryServiceError):
            failed.append(path)
    return failed


def _found(folder: Path) -> Iterator[Path]:
    """What lies in a folder of exports: each export, and whatever is no folder."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False) and not _is_export(path):
            yield from _found(path)
        else:
            yield path


def _is_export(path: Path) -> bool:
    return (path / "export.json").is_symlink() or (path / "export.json").exists()


def _refresh(path: Path, owner: str) -> bool:
    """Write one anew; whether nothing of the owner's is left in it that should not be."""
    kind = path.lstat().st_mode
    if not stat.S_ISDIR(kind):
        return not stat.S_ISLNK(kind)
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        note = note_of(opened)
    finally:
        os.close(opened)
    if note is None:
        return False
    if note.owner != owner:
        return True
    with opened_export(path, owner, follow=False) as inside:
        target = ExportFolder(inside, Marks(is_ours, is_sealed), force=True)
        target.note(replace(note, complete=False))
        for _ in range(PASSES):
            target.begin()
            start = begin(owner)
            for document, _ in stream(owner, start):
                target.put(document.path, document.text)
            if snapshots.settled(owner) == start.settled:
                break
        target.remove_others()
        target.note(replace(note, complete=True))
    return True
