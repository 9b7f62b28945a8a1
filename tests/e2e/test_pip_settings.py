"""What people have set for pip holds for envsetup too, and their passwords go nowhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Tuple

import pytest

from tests.e2e.bench import Bench, imported, processes_below, wait_for
from tests.support.index import Index

USER, PASSWORD = "someone", "s3cr3t%40word"


def by_variable(bench: Bench, url: str) -> Dict[str, str]:
    return {"PIP_INDEX_URL": url}


def by_file(bench: Bench, url: str) -> Dict[str, str]:
    path = bench.folder / "pip.conf"
    path.write_text(f"[global]\nindex-url = {url}\n")
    return {"PIP_INDEX_URL": "", "PIP_CONFIG_FILE": str(path)}


def by_users_file(bench: Bench, url: str) -> Dict[str, str]:
    path = bench.folder / "config" / "pip" / "pip.conf"
    path.parent.mkdir(parents=True)
    path.write_text(f"[install]\nindex-url = {url}\n")
    return {"PIP_INDEX_URL": "", "PIP_CONFIG_FILE": ""}


def by_extra(bench: Bench, url: str) -> Dict[str, str]:
    (bench.folder / "simple").mkdir()
    return {"PIP_INDEX_URL": (bench.folder / "simple").as_uri(), "PIP_EXTRA_INDEX_URL": url}


Setting = Callable[[Bench, str], Dict[str, str]]


@pytest.mark.parametrize("setting", [by_variable, by_file, by_users_file, by_extra])
def test_credentials_reach_the_index_and_nothing_else(setting: Setting, bench: Bench) -> None:
    bench.index.credentials = (USER, PASSWORD.replace("%40", "@"))
    url = bench.index.url.replace("://", f"://{USER}:{PASSWORD}@")
    env = setting(bench, url)
    bench.index.pause = 0.05
    bench.index.fail("slow", "/files/tiny_numbers*.whl")
    process = bench.start("--with", "tiny-numbers", **env)
    seen: List[str] = []

    def over() -> bool:
        seen.extend(str(p["line"]) for p in processes_below(bench.folder))
        return process.poll() is not None

    wait_for(over, 60)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert bench.version() == "2.0"
    shown = {"stdout": out, "stderr": err, "arguments": "\n".join(seen)}
    for folder in (bench.target, bench.folder / "cache", bench.folder / "uv-cache"):
        for path in folder.rglob("*"):
            if path.is_file():
                shown[str(path)] = path.read_bytes().decode("utf-8", "replace")
    for secret in (PASSWORD, PASSWORD.replace("%40", "@"), "s3cr3t"):
        assert [where for where, text in shown.items() if secret in text] == []
    assert any("uv" in line and "pip install" in line for line in seen), "no process was seen at all"


def test_a_failure_shows_no_credentials(bench: Bench) -> None:
    url = bench.index.url.replace("://", f"://{USER}:{PASSWORD}@")
    bench.index.fail("500")
    for arguments in ((), ("--with", "tiny-numbers")):
        done = bench.create(*arguments, PIP_INDEX_URL=url)
        assert done.code == 4
        assert "s3cr3t" not in done.out + done.err


def test_a_requirement_with_credentials_leaves_none_behind(bench: Bench) -> None:
    bench.index.credentials = (USER, PASSWORD.replace("%40", "@"))
    wheel = bench.index.add("private", "1.0")
    address = bench.index.url.replace("://", f"://{USER}:{PASSWORD}@")
    requirement = f"private @ {address.replace('/simple/', '/files/')}{wheel.name}"
    done = bench.made("--with", requirement, PIP_INDEX_URL=address)
    assert "s3cr3t" not in done.out + done.err
    for path in bench.target.rglob("*"):
        if path.is_file():
            assert "s3cr3t" not in path.read_bytes().decode("utf-8", "replace"), path
    assert bench.made("--with", requirement, PIP_INDEX_URL=address).data["changed"] is False


def split_wheels(bench: Bench, *folders: Path) -> None:
    """Move the index's wheels to ``folders`` in turn."""
    for number, wheel in enumerate(sorted(bench.index.folder.glob("*.whl"))):
        folder = folders[number % len(folders)]
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(str(wheel), str(folder))


def test_find_links_with_several_folders(bench: Bench) -> None:
    first, second = bench.folder / "first", bench.folder / "second"
    split_wheels(bench, first, second)
    links = f"{first} {second.as_uri()}\n{bench.folder / 'absent'}"
    bench.made(PIP_FIND_LINKS=links, PIP_NO_INDEX="1")
    assert bench.index.count() == 0


def test_find_links_relative_to_where_the_user_is(bench: Bench) -> None:
    split_wheels(bench, bench.folder / "wheels here")
    (bench.folder / "wheels here").rename(bench.folder / "here")
    config = bench.folder / "pip.conf"
    config.write_text("[global]\nno-index = true\nfind-links = here\n")
    bench.made(PIP_CONFIG_FILE=str(config))


def test_find_links_of_folders_that_are_not_there(bench: Bench) -> None:
    """pip only warns about them."""
    bench.made(PIP_FIND_LINKS=f"{bench.folder}/absent {bench.folder}/absent-too")


def test_extra_indexes_in_folders_some_of_which_are_not_there(bench: Bench) -> None:
    simple = bench.folder / "here" / "simple"
    for wheel in sorted(bench.index.folder.glob("tiny_vision*.whl")):
        page = simple / "tiny-vision"
        page.mkdir(parents=True, exist_ok=True)
        shutil.move(str(wheel), str(page))
    links = "".join(f'<a href="{w.name}">{w.name}</a>\n' for w in sorted((simple / "tiny-vision").iterdir()))
    (simple / "tiny-vision" / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
    extra = f"{simple.as_uri()} {(bench.folder / 'absent' / 'simple').as_uri()}"
    bench.made(PIP_EXTRA_INDEX_URL=extra)
    bench.made("--replace", "--with", "tiny-numbers", PIP_EXTRA_INDEX_URL=extra)


def test_constraints_hold(bench: Bench) -> None:
    limits = bench.folder / "limits.txt"
    bench.index.add("tiny-numbers", "0.9")
    limits.write_text("# the lab's\ntiny-numbers<1\nnever-installed==3\n")
    bench.made(PIP_CONSTRAINT=str(limits))
    assert imported(bench.target, "tiny_numbers") == "0.9"
    assert bench.made(PIP_CONSTRAINT=str(limits)).data["changed"] is False


def test_constraints_that_the_lock_satisfies_cost_no_network(bench: Bench) -> None:
    bench.made()
    asked = bench.index.count()
    limits = bench.folder / "limits.txt"
    limits.write_text("tiny-numbers<2\nother==1\n")
    assert bench.made(PIP_CONSTRAINT=str(limits)).data["changed"] is False
    assert bench.index.count() == asked


def test_constraints_that_no_stack_meets(bench: Bench) -> None:
    limits = bench.folder / "limits.txt"
    limits.write_text("tiny-torch<1\n")
    done = bench.create(PIP_CONSTRAINT=str(limits))
    assert done.code == 3
    assert "tiny-torch" in done.message


def test_a_proxy(bench: Bench) -> None:
    proxy = bench.index.url.replace("/simple/", "")
    bench.made(PIP_INDEX_URL="http://index.invalid/simple/", PIP_PROXY=proxy)
    assert bench.index.count("*.whl") > 0
    done = bench.create(
        "--replace", PIP_INDEX_URL="http://index.invalid/other/", PIP_PROXY="http://127.0.0.1:9"
    )
    assert done.code == 4
    assert "proxy" in done.message


@pytest.fixture
def certificate(tmp_path: Path) -> Tuple[Path, Path, Path]:
    """Make an authority and a server's certificate; return the authority, the certificate and its key."""
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")

    def make(name: str, *options: str) -> Tuple[Path, Path]:
        certificate, key = tmp_path / f"{name}.pem", tmp_path / f"{name}.key"
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *options]
        command += ["-subj", f"/CN={name}", "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(command, check=True, capture_output=True)
        return certificate, key

    authority, signs = make("authority")
    san = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]
    server, key = make("server", *san, "-CA", str(authority), "-CAkey", str(signs))
    return authority, server, key


@pytest.fixture
def secure(bench: Bench, certificate: Tuple[Path, Path, Path]) -> Iterator[str]:
    with Index(bench.index.folder, tls=certificate[1:]) as server:
        yield server.url


def test_an_index_with_a_certificate_of_its_own(
    secure: str, certificate: Tuple[Path, Path, Path], bench: Bench
) -> None:
    done = bench.create(PIP_INDEX_URL=secure)
    assert done.code == 4
    assert "not trusted" in done.message and "cert" in done.message
    bench.made(PIP_INDEX_URL=secure, PIP_CERT=str(certificate[0]))
    bench.made(
        "--replace",
        PIP_INDEX_URL=secure,
        PIP_TRUSTED_HOST="127.0.0.1",
        UV_CACHE_DIR=str(bench.folder / "empty"),
    )


def test_uvs_own_settings_come_first(bench: Bench) -> None:
    bench.made(PIP_INDEX_URL="http://127.0.0.1:9/simple/", UV_DEFAULT_INDEX=bench.index.url)


def test_settings_of_a_project_in_the_current_folder_do_not_count(bench: Bench) -> None:
    text = '[[index]]\nurl = "http://127.0.0.1:9/simple/"\ndefault = true\n'
    (bench.folder / "uv.toml").write_text(text)
    bench.made()
    (bench.folder / "pyproject.toml").write_text("[tool.uv.pip]\nno-index = true\n")
    bench.made("--replace", UV_CACHE_DIR=str(bench.folder / "empty"))


def test_a_broken_pip_conf_is_named(bench: Bench) -> None:
    config = bench.folder / "pip.conf"
    config.write_text("index-url without a section\n")
    done = bench.create(PIP_CONFIG_FILE=str(config))
    assert done.code in (0, 2, 4)
    os.unlink(config)  # noqa: PTH108
