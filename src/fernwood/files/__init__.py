"""The one door to the disk: whole positioned reads, writes that reach the disk, directories that appear whole.

Everything that Fernwood keeps, and every table that it reads by itself, goes through here, so that a test can make any
call fail (decision 0027). Modules of this room call `os`, `fcntl`, `shutil` and `tempfile`, by those names; no other
room does.
"""

from __future__ import annotations

from fernwood.files.directories import (
    OpenDirectory,
    appearing_directory,
    copy_tree,
    make_directory,
    remove_tree,
    restored,
    scratch_directory,
    sync_tree,
)
from fernwood.files.locks import SharedDirectory, alone_with, locked
from fernwood.files.looking import (
    entries_of,
    exists,
    folder_holding,
    free_bytes,
    holds,
    is_directory,
    is_file,
    is_link,
    is_ours_alone,
    mapped_file,
    modified,
    nearest_path,
    size_of,
    temporary_place,
)
from fernwood.files.reading import FileReader, PositionedFile, Streamed, opened, read_file
from fernwood.files.writing import (
    Descriptor,
    FileWriter,
    append_line,
    copy_into,
    move,
    remove,
    replaced_file,
)

__all__ = [
    "Descriptor",
    "FileReader",
    "FileWriter",
    "OpenDirectory",
    "PositionedFile",
    "SharedDirectory",
    "Streamed",
    "alone_with",
    "appearing_directory",
    "append_line",
    "copy_into",
    "copy_tree",
    "entries_of",
    "exists",
    "folder_holding",
    "free_bytes",
    "holds",
    "is_directory",
    "is_file",
    "is_link",
    "is_ours_alone",
    "locked",
    "make_directory",
    "mapped_file",
    "modified",
    "move",
    "nearest_path",
    "opened",
    "read_file",
    "remove",
    "remove_tree",
    "replaced_file",
    "restored",
    "scratch_directory",
    "size_of",
    "sync_tree",
    "temporary_place",
]
