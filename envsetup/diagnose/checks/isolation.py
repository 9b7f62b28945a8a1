"""What leaks in from outside: PYTHONPATH, the user's folder, the base interpreter, a file of one's own."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Dict, Iterable, List, Tuple

from envsetup.diagnose.checks.check import Problem, Seen
from envsetup.diagnose.checks.context import Context
from envsetup.diagnose.checks.installed import distributions
from envsetup.diagnose.checks.recognise import IMPORTS
from envsetup.diagnose.finding import Candidate

# Packages whose version decides whether the framework works.
_DECIDING = frozenset({*IMPORTS, "protobuf", "h5py", "keras", "tensorboard", "torchaudio"})
_PTH_LIMIT = 1 << 16


def look(context: Context) -> Seen:
    """Look at every way in which Python finds packages that are not the environment's."""
    problems = [
        problem
        for way in (_python_path, _python_home, _user_site, _system_site, _path_files, _own_files)
        for problem in way(context)
    ]
    return Seen(tuple(problems), detail="nothing from outside" if not problems else "")


def _python_path(context: Context) -> Iterable[Problem]:
    folders = [Path(p) for p in context.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    for folder in folders:
        yield from _shadowing(context, folder, f"PYTHONPATH has {folder}", "unset PYTHONPATH", before=True)


def _python_home(context: Context) -> Iterable[Problem]:
    home = context.environ.get("PYTHONHOME")
    if home:
        values = {"what": "PYTHONHOME", "names": "the standard library", "undo": "unset PYTHONHOME"}
        yield Problem(Candidate("environment-leak", 0.8, (f"PYTHONHOME={home}",), values))


def _user_site(context: Context) -> Iterable[Problem]:
    """The user's own folder comes before an interpreter's packages; a virtual environment does not see it."""
    target = context.target
    assert target is not None
    sees = target.kind != "venv" or target.config.get("include-system-site-packages") == "true"
    if not sees or context.environ.get("PYTHONNOUSERSITE") or not target.version:
        return
    if os.name == "nt":
        tag = target.version.replace(".", "")
        folder = Path(context.environ.get("APPDATA", "")) / "Python" / f"Python{tag}" / "site-packages"
    else:
        base = context.environ.get("PYTHONUSERBASE") or Path(context.environ.get("HOME", "/")) / ".local"
        folder = Path(base) / "lib" / f"python{target.version}" / "site-packages"
    if folder not in target.site:
        undo = "export PYTHONNOUSERSITE=1" if os.name != "nt" else "set PYTHONNOUSERSITE=1"
        yield from _shadowing(context, folder, f"the user's folder {folder}", undo, before=True)


def _system_site(context: Context) -> Iterable[Problem]:
    target = context.target
    assert target is not None
    if target.kind != "venv" or target.config.get("include-system-site-packages") != "true":
        return
    home = Path(target.config.get("home", ""))
    base = home.parent if home.name in ("bin", "Scripts") else home
    folders = [*base.glob(f"lib/python{target.version}/site-packages"), base / "Lib" / "site-packages"]
    folders += [Path("/usr/lib/python3/dist-packages")] if str(base) == "/usr" else []
    for folder in folders:
        what = f"include-system-site-packages is true, and the base interpreter has {folder}"
        yield from _shadowing(
            context, folder, what, f"set it to false in {target.prefix}/pyvenv.cfg", before=False
        )


def _path_files(context: Context) -> Iterable[Problem]:
    """``.pth`` files that add another environment's packages; editable projects of one's own are no leak."""
    for folder in context.target.site if context.target else ():
        for file in sorted(folder.glob("*.pth")):
            try:
                with file.open("rb") as stream:
                    lines = stream.read(_PTH_LIMIT).decode("utf-8", "replace").splitlines()
            except OSError:
                continue
            for line in lines:
                added = Path(os.path.normpath(folder / line.strip()))
                if line.strip() and added.name in ("site-packages", "dist-packages") and added != folder:
                    what = f"{file.name} adds {added}"
                    yield from _shadowing(context, added, what, f"remove {file}", before=False)


def _own_files(context: Context) -> Iterable[Problem]:
    """A script named like the framework hides it from every program that starts in that folder."""
    names = {IMPORTS[name] for name in context.packages if name in IMPORTS}
    found = [
        path
        for name in sorted(names)
        for path in (context.folder / f"{name}.py", context.folder / name / "__init__.py")
        if path.is_file() and not any(folder in path.parents for folder in context.target.site)  # type: ignore[union-attr]
    ]
    if found:
        values = {"files": ", ".join(str(path) for path in found)}
        yield Problem(Candidate("module-shadowed", 0.7, tuple(map(str, found)), values))


def _shadowing(context: Context, folder: Path, what: str, undo: str, before: bool) -> Iterable[Problem]:
    """Report packages of a folder that matter to the environment's.

    Args:
        before: the folder is searched before the environment's own; else only what the environment lacks is
            taken from it.
    """
    own: Dict[str, str] = {name: d.version for name, d in context.packages.items()}
    clashes: List[Tuple[str, str]] = []
    for other in distributions([folder]):
        has = own.get(other.name)
        if has is None and other.name in _DECIDING:
            clashes.append((other.name, f"{other.shown} is taken from there"))
        elif has is not None and before and has != other.version:
            clashes.append((other.name, f"{other.shown} hides {has}"))
    if before:
        named = {re.sub(r"[-_.]+", "-", n).lower() for n, _ in clashes}
        bare = sorted(n for n in {*own} & set(IMPORTS) - named if _bare(folder, IMPORTS[n]))
        clashes += [(name, f"{folder / IMPORTS[name]} hides {name} {own[name]}") for name in bare]
    if not clashes:
        return
    names = [name for name, _ in clashes]
    values = {"what": what, "names": ", ".join(names[:6]), "undo": undo}
    severity = "error" if before and _DECIDING & set(names) else "warning"
    evidence = (what, *(text for _, text in clashes[:6]))
    yield Problem(Candidate("environment-leak", 0.85, evidence, values), severity=severity)


def _bare(folder: Path, module: str) -> bool:
    """Say whether a folder has a module without any distribution's record."""
    return not distributions([folder]) and (
        (folder / module / "__init__.py").is_file() or (folder / f"{module}.py").is_file()
    )
