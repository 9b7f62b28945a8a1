"""``--with`` and ``-r``: what people want besides the stack, and contradictions with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import List

import pytest

from tests.e2e.bench import Bench, imported, tree
from tests.support.wheels import tiny_wheel


def packages(bench: Bench) -> List[str]:
    receipt = json.loads((bench.target / "envsetup.json").read_text())
    return [line.split("  #")[0].split(" --hash")[0] for line in receipt["packages"]]


def test_a_package_that_depends_on_the_replaced_distribution(bench: Bench) -> None:
    bench.index.add("models", "1.0", requires=["torch>=1", "tiny-vision"])
    done = bench.made("--with", "models==1.0")
    assert imported(bench.target, "models") == "1.0"
    assert "models==1.0" in packages(bench)
    assert bench.index.count("/files/torch-*.whl") == 0, "the replaced distribution was fetched"
    assert bench.version() == "2.0"
    assert any(step["action"] == "provide" for step in done.data["steps"])
    before = tree(bench.target)
    assert bench.made("--with", "models==1.0").data["changed"] is False
    assert tree(bench.target) == before
    assert bench.create("--with", "models==1.0", "--with", "tiny-numbers<2").code == 4, (
        "other packages are another thing"
    )


@pytest.mark.parametrize(
    "requirement, names",
    [
        ("torch>=3", ["torch", "tiny-torch"]),
        ("tiny-numbers==2.0", ["tiny-numbers"]),
        ("no-such-package", ["no-such-package"]),
        ("tiny-vision==7", ["tiny-vision"]),
    ],
)
def test_a_contradiction_is_explained(requirement: str, names: List[str], earlier: Bench) -> None:
    done = earlier.create("--replace", "--with", requirement)
    assert done.code == 3
    for name in names:
        assert name in done.message
    assert "because" in done.message.lower()


@pytest.mark.parametrize(
    "garbage",
    [
        "not a requirement!!",
        "",
        "pkg===",
        "-e .",
        "--index-url=http://127.0.0.1:9/",
        "a==1\nb==2",
        "pkg @ ",
    ],
)
def test_garbage_is_refused_in_a_sentence(garbage: str, earlier: Bench) -> None:
    done = earlier.create("--replace", "--with", garbage)
    assert done.code == 2, done.message
    assert "requirement" in done.message


def test_a_requirements_file(bench: Bench) -> None:
    for name in ("hashed", "marked", "unwanted", "nested"):
        bench.index.add(name, "1.0")
    sha256 = bench.package("hashed", "1.0").sha256
    file = bench.folder / "my requirements.txt"
    (bench.folder / "more.txt").write_text("nested\n")
    file.write_text(
        "# a comment\n"
        f"hashed==1.0 \\\n    --hash=sha256:{sha256}\n"
        "marked; python_version > '3'  # another\n"
        "unwanted; sys_platform == 'win32'\n"
        "-r more.txt\n\n"
    )
    bench.made("-r", "my requirements.txt")
    assert {"hashed==1.0", "marked==1.0", "nested==1.0"} <= set(packages(bench))
    assert "unwanted==1.0" not in packages(bench)
    assert bench.made("-r", file).data["changed"] is False


def test_a_requirements_file_with_a_wrong_hash(earlier: Bench) -> None:
    earlier.index.add("hashed", "1.0")
    file = earlier.folder / "r.txt"
    file.write_text(f"hashed==1.0 --hash=sha256:{'0' * 64}\n")
    done = earlier.create("--replace", "-r", file)
    assert done.code == 3
    assert "hashed 1.0" in done.message and "hash that you state" in done.message


@pytest.mark.parametrize("content", [b"\xff\xfe\x00\x01", b"this is = no file at all", None])
def test_a_requirements_file_that_is_none(content: bytes | None, earlier: Bench) -> None:
    file = earlier.folder / "r.txt"
    if content is not None:
        file.write_bytes(content)
    done = earlier.create("--replace", "-r", file)
    assert done.code == 2, done.message
    assert "r.txt" in done.message


def test_paths_in_a_requirements_file_are_those_of_the_current_folder_as_for_pip(bench: Bench) -> None:
    tiny_wheel(bench.folder / "here", "local", "1.0")
    (bench.folder / "r.txt").write_text("./local-1.0-py3-none-any.whl\n")
    command = ["create", bench.target, "--stack", "tiny", "--json", "-r", bench.folder / "r.txt"]
    done = bench.run(*command, cwd=bench.folder / "here")
    assert done.code == 0, done.err
    assert imported(bench.target, "local") == "1.0"


@pytest.mark.parametrize(
    "form", ["./local-1.0-py3-none-any.whl", "{folder}/local-1.0-py3-none-any.whl", "local @ {uri}"]
)
def test_a_local_wheel(form: str, bench: Bench) -> None:
    wheel = tiny_wheel(bench.folder / "Übung 1", "local", "1.0")
    folder = wheel.parent
    requirement = form.format(folder=folder, uri=wheel.as_uri())
    command = ["create", bench.target, "--stack", "tiny", "--json", "--with", requirement]
    done = bench.run(*command, cwd=folder)
    assert done.code == 0, done.err
    assert imported(bench.target, "local") == "1.0"
    assert bench.run(*command, cwd=folder).data["changed"] is False


def test_a_local_project(bench: Bench) -> None:
    project = bench.folder / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "mine"\nversion = "1"\n[build-system]\nrequires = []\n'
        'build-backend = "backend"\nbackend-path = ["."]\n'
    )
    wheel = tiny_wheel(bench.folder / "built", "mine", "1")
    (project / "backend.py").write_text(
        "import shutil\n"
        "def build_wheel(folder, config_settings=None, metadata_directory=None):\n"
        f"    return shutil.copy({str(wheel)!r}, folder).rsplit('/', 1)[1]\n"
    )
    shutil.rmtree(bench.folder / "uv-cache", ignore_errors=True)
    bench.made("--with", str(project))
    assert imported(bench.target, "mine") == "1"


def test_an_index_without_upload_dates(bench: Bench) -> None:
    """A folder of HTML pages, as many labs have."""
    simple = bench.folder / "simple"
    for wheel in sorted(bench.index.folder.glob("*.whl")):
        page = simple / wheel.name.split("-")[0].replace("_", "-")
        page.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, page)
    for page in simple.iterdir():
        links = "".join(f'<a href="{w.name}">{w.name}</a>\n' for w in sorted(page.glob("*.whl")))
        (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
    bench.made("--with", "tiny-numbers", PIP_INDEX_URL=simple.as_uri())
    assert "tiny-numbers==1.0" in packages(bench)
    assert bench.index.count() == 0


def test_nothing_newer_than_the_stack_is_taken(bench: Bench) -> None:
    bench.index.add("extra", "1.0")
    bench.index.uploaded[bench.index.add("extra", "2.0").name] = "2024-01-01T00:00:00Z"
    bench.made("--with", "extra")
    assert "extra==1.0" in packages(bench)


def test_what_the_index_gains_later_changes_nothing(bench: Bench) -> None:
    bench.index.add("extra", "1.0")
    bench.made("--with", "extra")
    bench.index.add("pip", "21.0")
    shutil.rmtree(bench.folder / "uv-cache")
    assert bench.made("--with", "extra").data["changed"] is False


def test_the_same_requirements_again_need_no_network(bench: Bench) -> None:
    bench.index.add("extra", "1.0")
    (bench.folder / "r.txt").write_text("extra\n")
    wanted = ("--with", "tiny-numbers", "-r", bench.folder / "r.txt")
    bench.made(*wanted)
    shutil.rmtree(bench.folder / "uv-cache")
    asked = bench.index.count()
    done = bench.made(*wanted)
    assert done.data["changed"] is False
    assert bench.index.count() == asked
    (bench.folder / "r.txt").write_text("tiny-vision\n")
    assert bench.create(*wanted).code == 4


def test_a_changed_local_wheel_is_another_thing(bench: Bench) -> None:
    wheel = tiny_wheel(bench.folder / "here", "local", "1.0")
    bench.made("--with", str(wheel))
    tiny_wheel(bench.folder / "here", "local", "1.0", files={"local/__init__.py": "__version__ = 'new'\n"})
    bench.made("--with", str(wheel), "--replace")
    assert imported(bench.target, "local") == "new"


def made_with(bench: Bench, *arguments: str) -> Path:
    bench.made(*arguments)
    return bench.target


@pytest.mark.parametrize("options", [("--no-provides",), ("--as-documented",)])
def test_options_are_part_of_what_must_be_the_same(options: tuple[str, ...], bench: Bench) -> None:
    made_with(bench)
    done = bench.create(*options)
    assert done.code == 4 and "--replace" in done.message
    bench.made("--replace", *options)
    assert bench.made(*options).data["changed"] is False


def test_as_documented_ends_with_the_same_files(bench: Bench) -> None:
    made_with(bench)
    short = tree(bench.target, lambda name: name.endswith("envsetup.json"))
    bench.made("--replace", "--as-documented")
    assert bench.index.count("/files/torch-2.0*.whl") > 0
    assert tree(bench.target, lambda name: name.endswith("envsetup.json")) == short
