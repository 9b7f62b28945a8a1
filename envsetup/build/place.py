"""Put a finished environment in place in one step, and leave the earlier one alone until then."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import Any, Callable, Iterator

from envsetup.errors import BuildError

_NEW, _OLD = ".envsetup-new-", ".envsetup-old"


def locks_folder() -> Path:
    """Return the user's folder for lock files; it is not beside the environment, to leave nothing there."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("envsetup", appauthor=False)) / "locks"


@contextlib.contextmanager
def exclusive(target: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of ``target``: two runs on one path wait for each other.

    Args:
        waiting: called once when another run holds it.
    """
    import filelock

    folder = locks_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(
            f"{folder} can't be made: {error.strerror}", "Set XDG_CACHE_HOME to a folder you may write."
        ) from None
    # One place may have several names; the last part is a name of its own even when it is a link.
    place = os.path.normcase(target.parent.resolve() / target.name)
    name = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    lock = filelock.FileLock(str(folder / f"{name}.lock"))
    try:
        lock.acquire(timeout=0.1)
    except filelock.Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def recover(target: Path) -> None:
    """Clean up after a run that was killed: drop half-built folders, bring back an environment set aside."""
    old = target.with_name(f".{target.name}{_OLD}")
    if old.exists():
        if target.exists():
            remove_tree(old)
        else:
            old.rename(target)
    if target.parent.is_dir():
        for half in target.parent.glob(_escape(f".{target.name}{_NEW}") + "*"):
            remove_tree(half)


@contextlib.contextmanager
def staging(target: Path) -> Iterator[Path]:
    """Yield a folder beside ``target`` to build in; it is removed if it is still there at the end.

    Raises:
        BuildError: when the place can't be written.
    """
    folder = target.with_name(f".{target.name}{_NEW}{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except OSError as error:
        hint = "Choose a path that you may write to; envsetup needs no admin rights."
        raise BuildError(f"{target.parent} can't be written: {error.strerror}", hint) from None
    folder.rmdir()  # uv makes it; this was to learn whether it can
    try:
        yield folder
    finally:
        remove_tree(folder)


def swap(new: Path, target: Path) -> None:
    """Move ``new`` to ``target``; what was there is set aside first and removed afterwards.

    Raises:
        BuildError: when the earlier environment is in use (Windows); it is then as it was.
    """
    old = target.with_name(f".{target.name}{_OLD}")
    earlier = os.path.lexists(target)
    try:
        if earlier:
            target.rename(old)
        try:
            new.rename(target)
        except BaseException:
            if earlier:
                old.rename(target)
            raise
    except OSError as error:
        hint = "Close the programs that use it (Python, editors, terminals) and try again."
        raise BuildError(f"{target} can't be replaced: {error.strerror}", hint) from None
    if earlier:
        remove_tree(old)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it; read-only files too. Nothing happens when it is not there."""

    def unlock(function: Callable[..., Any], path: str, _: Any) -> None:
        with contextlib.suppress(OSError):
            Path(path).chmod(stat.S_IWRITE | stat.S_IREAD | stat.S_IEXEC)
            function(path)

    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder, onerror=unlock)


def _escape(name: str) -> str:
    import glob

    return glob.escape(name)
