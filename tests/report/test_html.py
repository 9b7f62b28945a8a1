"""The page: whole, escaped, self-contained, and readable in a real browser."""

from __future__ import annotations

import html
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any, Dict, Tuple

import pytest

from envsetup.machine.assume import overlay
from envsetup.machine.fact import Fact, Machine
from envsetup.report.html import render, render_stacks, write
from envsetup.resolve.survey import survey

HOSTILE = "<script>document.title='taken'</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]


def finding(severity: str, text: str = "words") -> Dict[str, Any]:
    fix = {"steps": [text], "admin": True, "reboot": True, "verify": text}
    return {
        "code": "a-code",
        "severity": severity,
        "title": text,
        "evidence": [text],
        "cause": text,
        "fix": fix,
        "score": 0.9,
    }


def report(text: str = "words", **more: Any) -> Dict[str, Any]:
    probe = {
        "ok": False,
        "stage": "import",
        "reason": text,
        "device": None,
        "devices": [{"id": "dml:0", "name": text}],
        "max_error": 1e-7,
        "tolerance": 1e-3,
        "stages": {"import": 1.5},
        "log": text,
    }
    environment = {
        "path": text,
        "interpreter": text,
        "python": "3.8",
        "made_by_envsetup": True,
        "stack": text,
        "framework": "torch",
        "backend": "dml",
    }
    return {
        "schema": 1,
        "ok": False,
        "findings": [finding("error", text), finding("warning", text), finding("info", text)],
        "checks": [{"name": "files", "title": text, "status": "ok", "detail": text, "seconds": 0.1}],
        "environment": environment,
        "assumed": [text],
        "fits": [{"stack": text, "framework": "torch", "backend": "dml"}],
        "probe": probe,
        "missing_facts": [],
        **more,
    }


def machine(text: str = "words") -> Machine:
    return Machine.of(
        [
            Fact("os-version", text, text),
            Fact("gpu", [{"name": text}], text),
            Fact("env", {"PATH": "/secret"}, ""),
        ]
    )


def test_whatever_a_machine_says_stays_text() -> None:
    page = render(report(HOSTILE), machine(HOSTILE))
    assert (
        "<script" not in page
        and "<img" not in page
        and "49" not in re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    )
    assert page.count("&lt;script&gt;") > 10


def test_nothing_is_loaded_from_anywhere() -> None:
    page = render(report(), machine())
    assert not re.search(r"\b(src|href)\s*=|url\(|@import", page)
    assert "default-src 'none'" in page
    assert "/secret" not in page


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ([], "Nothing wrong was found."),
        ([finding("error")], "1 error"),
        (
            [finding("error"), finding("error"), finding("warning"), finding("info")],
            "2 errors, 1 warning, 1 note",
        ),
    ],
)
def test_the_verdict_stands_at_the_top(findings: Any, words: str) -> None:
    page = render(report(findings=findings, environment=None, probe=None, fits=None, assumed=[]), machine())
    verdict = re.search(r'class="verdict \w+">(.*?)</p>', page, re.S)
    assert verdict and " ".join(verdict.group(1).split()) == words


def test_an_earlier_page_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("earlier")
    write(target, render(report(), machine()))
    assert target.read_text("utf-8").endswith("</html>\n") or target.read_text("utf-8").endswith("</html>")
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


@pytest.fixture(scope="module")
def chromium() -> str:
    found = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
    if not found:
        pytest.skip("no Chromium on PATH")
    return found


def chrome(chromium: str, folder: Path, *options: object) -> str:
    command = [chromium, *FLAGS, f"--user-data-dir={folder / 'profile'}", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.parametrize(("name", "width", "height"), [("phone", 390, 844), ("screen", 1280, 900)])
def test_a_browser_shows_it(tmp_path: Path, chromium: str, name: str, width: int, height: int) -> None:
    page, picture = tmp_path / "page.html", tmp_path / f"{name}.png"
    page.write_text(
        render(report("A sentence of some length that has to be broken. " * 4), machine()), "utf-8"
    )
    chrome(chromium, tmp_path, f"--window-size={width},{height}", f"--screenshot={picture}", page.as_uri())
    size, colours = png(picture)
    assert size == (width, height)
    assert colours > 20  # neither blank nor an error page without colour


def test_a_phone_need_not_scroll_sideways(tmp_path: Path, chromium: str) -> None:
    """A frame of a phone's width holds the page, long words and all; its script says how wide it is."""
    words = report("a/very/long/path/without/any/space/" * 12)
    inner = render(words, machine("x" * 400)).replace(
        "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'"
    )
    script = "<script>document.title = 'width ' + document.documentElement.scrollWidth</script></body>"
    (tmp_path / "page.html").write_text(inner.replace("</body>", script), "utf-8")
    frame = (
        '<iframe src="page.html" style="width:390px;height:800px;border:0" id="f"></iframe>'
        "<script>onload = () => {"
        " document.title = document.getElementById('f').contentDocument.title }</script>"
    )
    (tmp_path / "frame.html").write_text(frame, "utf-8")
    options = ("--allow-file-access-from-files", "--virtual-time-budget=3000", "--dump-dom")
    dom = chrome(chromium, tmp_path, *options, (tmp_path / "frame.html").as_uri())
    width = re.search(r"<title>width (\d+)</title>", dom)
    assert width and int(width.group(1)) <= 390, dom[:300]


def test_it_can_be_printed(tmp_path: Path, chromium: str) -> None:
    (tmp_path / "page.html").write_text(render(report(), machine()), "utf-8")
    paper = tmp_path / "page.pdf"
    chrome(
        chromium,
        tmp_path,
        "--no-pdf-header-footer",
        f"--print-to-pdf={paper}",
        (tmp_path / "page.html").as_uri(),
    )
    assert paper.read_bytes().startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) <= 3


def png(path: Path) -> Tuple[Tuple[int, int], int]:
    """Return a PNG's size and how many different pixels a sample of its lines has, filters left aside."""
    data, at, packed = path.read_bytes(), 8, b""
    width, height = struct.unpack(">II", data[16:24])
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    raw = zlib.decompress(packed)
    return (width, height), len({raw[i : i + 3] for i in range(0, len(raw) - 3, 7)})


def test_the_page_of_stacks_names_what_fits_and_what_is_missing_with_sources() -> None:
    seen = overlay(Machine.of([]), ["os=linux", "gpu=1002:67df", "glibc=2.36", "cpu=avx,avx2,fma"])
    data = {"assumed": seen.assumed, "stacks": survey(seen)}
    page = render_stacks(data)
    for entry in data["stacks"]:
        assert entry["name"] in page
        assert html.escape(entry["source"], quote=True).replace("&#x27;", "&#39;") in page
    assert "outside WSL" in page
    assert page.count('<td class="ok">yes</td>') == sum(r["fits"] for e in data["stacks"] for r in e["rows"])


def test_what_comes_from_outside_is_escaped_in_the_page_of_stacks() -> None:
    unmet = {"fact": "gpu", "needs": "<b>", "found": "<script>alert(1)</script>", "fix": "&"}
    row = {"version": "1", "fits": False, "python": ["3.8"], "unmet": [unmet], "unknown": [], "verified": []}
    stack = {"name": "x", "title": "X", "summary": "s", "source": "here", "rows": [row]}
    page = render_stacks({"assumed": ["<i>"], "stacks": [stack]})
    assert "<script>alert" not in page and "<b>" not in page and "<i>" not in page
