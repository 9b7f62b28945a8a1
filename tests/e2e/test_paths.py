"""Where an environment may go, and what is never overwritten."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import pytest

from tests.e2e.bench import Bench, imported, tree
from tests.support.index import Index

PLAIN = "not made by envsetup"


@pytest.mark.parametrize(
    "name", ["Übung – 演習 1", 'a\'b "c" $(d) [e] {f}', "-env", ".env", "ünï.ćöde", "x" * 200]
)
def test_names_that_shells_and_tools_stumble_over(name: str, bench: Bench) -> None:
    path = bench.folder / name
    done = bench.made(path=path)
    assert done.data["path"] == str(path) and done.data["changed"] is True
    assert imported(path, "torch") == "2.0"
    assert bench.made(path=path).data["changed"] is False
    activated = subprocess.run(
        [
            "/bin/sh",
            "-c",
            '. "$1/bin/activate" && python -c "import torch, sys; print(sys.prefix)"',
            "sh",
            str(path),
        ],
        capture_output=True,
        text=True,
    )
    assert activated.stdout.strip() == str(path), activated.stderr


def test_the_printed_activation_command_works(bench: Bench) -> None:
    path = bench.folder / "it's Übung 1"
    done = bench.run("create", path, "--stack", "tiny")
    assert done.code == 0, done.err
    (line,) = [line for line in done.out.splitlines() if line.startswith("use it: ")]
    command = line[len("use it: ") :] + ' && python -c "import sys; print(sys.prefix)"'
    done_shell = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done_shell.stdout.strip() == str(path), done_shell.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX", "nonsense"])
def test_a_locale_without_unicode(locale: str, bench: Bench) -> None:
    path = bench.folder / "Übung 演習"
    done = bench.made(path=path, LC_ALL=locale, LANG=locale)
    assert done.data["path"] == str(path)
    assert imported(path, "torch") == "2.0"


def test_a_very_long_path(bench: Bench) -> None:
    path = bench.folder.joinpath(*["long" * 20] * 30)
    bench.made(path=path)
    assert imported(path, "torch") == "2.0"


def test_a_name_that_the_file_system_refuses(bench: Bench) -> None:
    done = bench.create(path=bench.folder / ("x" * 300))
    assert done.code == 4
    assert "too long" in done.message


def test_a_relative_path_and_the_default(bench: Bench) -> None:
    folder = bench.folder / "project"
    folder.mkdir()
    done = bench.run("create", "--stack", "tiny", "--json", cwd=folder)
    assert done.code == 0, done.err
    assert done.data["path"] == str(folder / ".venv")
    done = bench.run("create", "../project/.venv", "--stack", "tiny", "--json", cwd=folder)
    assert done.data["changed"] is False


def test_a_working_folder_that_is_gone(bench: Bench) -> None:
    folder = bench.folder / "gone"
    folder.mkdir()
    command = ["sh", "-c", f"rmdir '{folder}'; exec \"$@\"", "sh"]
    bench.wrapper = command
    done = bench.run("create", "env", "--stack", "tiny", "--json", cwd=folder)
    assert done.code in (2, 4), done.err
    bench.wrapper = []


def test_a_path_with_a_null_or_a_newline(bench: Bench) -> None:
    path = bench.folder / "two\nlines"
    done = bench.create(path=path)
    assert done.code in (0, 4), done.err
    if done.code == 0:
        assert imported(path, "torch") == "2.0"


def test_an_environment_moved_by_hand_still_works(bench: Bench) -> None:
    bench.made()
    moved = bench.target.with_name("moved")
    bench.target.rename(moved)
    assert imported(moved, "torch") == "2.0"


@pytest.mark.parametrize("replace", [(), ("--replace",)])
def test_a_folder_that_is_no_environment_is_never_touched(replace: tuple[str, ...], bench: Bench) -> None:
    bench.target.mkdir(parents=True)
    (bench.target / "thesis.txt").write_text("years of work")
    done = bench.create(*replace)
    assert done.code == 4
    assert "no virtual environment" in done.message and "another path" in done.message
    assert (bench.target / "thesis.txt").read_text() == "years of work"
    assert [p.name for p in bench.target.iterdir()] == ["thesis.txt"]
    assert bench.left_over() == []


@pytest.mark.parametrize("replace", [(), ("--replace",)])
def test_a_file_at_the_path_is_never_touched(replace: tuple[str, ...], bench: Bench) -> None:
    bench.target.parent.mkdir()
    bench.target.write_text("years of work")
    done = bench.create(*replace)
    assert done.code == 4
    assert "no virtual environment" in done.message
    assert bench.target.read_text() == "years of work"


def test_a_file_where_a_folder_must_be(bench: Bench) -> None:
    (bench.folder / "file").write_text("")
    done = bench.create(path=bench.folder / "file" / "env")
    assert done.code == 4
    assert str(bench.folder / "file") in done.message


def test_an_empty_folder_is_used(bench: Bench) -> None:
    bench.target.mkdir(parents=True)
    bench.made()
    assert bench.version() == "2.0"


@pytest.mark.parametrize("there", ["environment", "files", "nothing"])
def test_what_a_link_points_to_is_left_alone(there: str, bench: Bench) -> None:
    elsewhere = bench.folder / "elsewhere"
    if there == "environment":
        bench.made("--stack", "tiny==1", path=elsewhere)
    elif there == "files":
        elsewhere.mkdir()
        (elsewhere / "thesis.txt").write_text("years of work")
    before = tree(elsewhere)
    bench.target.parent.mkdir(exist_ok=True)
    bench.target.symlink_to(elsewhere)
    assert bench.create().code == (0 if there == "nothing" else 4)
    if there == "environment":
        bench.made("--replace")
    if there != "files":
        assert bench.version() == "2.0"
    assert tree(elsewhere) == before


def plain(path: Path) -> None:
    """Make an environment as people do without envsetup."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True)
    (path / "mine.txt").write_text("mine")


def test_a_plain_environment_is_not_overwritten_unasked(bench: Bench) -> None:
    plain(bench.target)
    before = tree(bench.target)
    done = bench.create()
    assert done.code == 4
    assert PLAIN in done.message and "--replace" in done.message
    assert tree(bench.target) == before


@pytest.mark.parametrize("trouble", ["index", "probe"])
def test_a_plain_environment_is_kept_when_the_new_one_fails(trouble: str, bench: Bench) -> None:
    plain(bench.target)
    before = tree(bench.target)
    if trouble == "index":
        bench.index.fail("503", "*.whl")
        assert bench.create("--replace").code == 4
    else:
        done = bench.create("--replace", FAKE_TORCH="raise")
        assert done.code == 5
        assert "left as it was" in done.err
        assert done.data["ok"] is False and done.data["changed"] is False
    assert tree(bench.target) == before
    assert bench.left_over() == []
    bench.index.heal()
    bench.made("--replace")
    assert not (bench.target / "mine.txt").exists()


def test_another_stack_does_not_replace_the_first_unasked(earlier: Bench) -> None:
    done = earlier.create("--stack", "tiny==2")
    assert done.code == 4
    assert "tiny==1.0" in done.message and "--replace" in done.message


@pytest.fixture
def as_nobody(index: Index) -> Iterator[Bench]:
    """A bench whose runs have no rights (root may write anywhere), outside pytest's closed folders."""
    folder = Path(tempfile.mkdtemp(prefix="envsetup-tests-"))
    folder.chmod(0o755)
    yield without_rights(Bench(folder, index))
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=True)
    shutil.rmtree(folder)


def without_rights(bench: Bench) -> Bench:
    if sys.platform != "linux":
        pytest.skip("runs on Linux")
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("needs setpriv to run as another user")
        bench.wrapper = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        subprocess.run(["chmod", "-R", "a+rX", str(bench.folder)], check=True)
        for name in ("uv-cache", "cache", "config", "tmp"):
            (bench.folder / name).mkdir(exist_ok=True)
            (bench.folder / name).chmod(0o777)
        python = Path(os.path.realpath(sys.executable))
        reads = subprocess.run(
            [*bench.wrapper, sys.executable, "-c", "import envsetup.cli, uv; uv.find_uv_bin()"],
            env=bench.env,
            capture_output=True,
        )
        if reads.returncode != 0:
            pytest.skip(f"another user can't start {python}")
    bench.env.update(HOME=str(bench.folder / "nowhere"), TMPDIR=str(bench.folder / "tmp"))
    (bench.folder / "tmp").mkdir(exist_ok=True)
    bench.env["PYTHONPYCACHEPREFIX"] = str(bench.folder / "tmp" / "byte-code")
    return bench


def test_a_place_that_may_not_be_written(as_nobody: Bench) -> None:
    as_nobody.target.parent.mkdir()
    as_nobody.target.parent.chmod(0o555)
    done = as_nobody.create()
    assert done.code == 4
    assert "can't be written" in done.message and "no admin rights" in done.message
    assert as_nobody.left_over() == []


def test_a_target_that_may_not_be_read(as_nobody: Bench) -> None:
    as_nobody.target.mkdir(parents=True)
    as_nobody.target.chmod(0)
    as_nobody.target.parent.chmod(0o777)
    if os.geteuid() == 0:
        done = as_nobody.create()
        assert done.code == 2
        assert str(as_nobody.target) in done.message
    as_nobody.target.chmod(0o755)


def test_a_home_that_may_not_be_written(as_nobody: Bench) -> None:
    for name in ("XDG_CACHE_HOME", "UV_CACHE_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        as_nobody.env.pop(name, None)
    home = as_nobody.folder / "home"
    home.mkdir(mode=0o555)
    home.chmod(0o555)
    as_nobody.target.parent.mkdir()
    as_nobody.target.parent.chmod(0o777)
    done = as_nobody.create(HOME=str(home))
    assert done.code == 4
    assert str(home) in done.message and "XDG_CACHE_HOME" in done.message
    cache = as_nobody.folder / "cache"
    as_nobody.made(HOME=str(home), XDG_CACHE_HOME=str(cache))
