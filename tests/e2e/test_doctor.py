"""Whole runs of ``envsetup doctor``: each fault made for real, found, repaired, and gone afterwards."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping

import pytest

from tests.e2e.bench import Bench, Done, end, tree, wait_for

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="runs on Linux; the Windows lab has tests of its own"
)
pytestmark = linux


def codes(done: Done, *severities: str) -> List[str]:
    wanted = severities or ("error", "warning")
    return [f["code"] for f in done.data["findings"] if f["severity"] in wanted]


def site_packages(environment: Path) -> Path:
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def without_byte_code(folder: Path) -> Dict[str, str]:
    return tree(folder, lambda path: path in ("envsetup.json",))


# With tiny stacks from a loopback index: what is done, what is said, and how a repair fails.


class Clinic:
    """A bench with ``tiny==1`` in place, which is healthy."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.target = bench, bench.target
        bench.made("--stack", "tiny==1")
        self.site = site_packages(bench.target)
        self.before = without_byte_code(bench.target)

    def doctor(self, *arguments: object, **env: str) -> Done:
        done = self.bench.run("doctor", self.target, "--json", "--no-probe", *arguments, **env)
        assert done.data["schema"] == 1
        return done

    def pip(self, *arguments: object) -> None:
        """Change the environment as its user would."""
        from tests.conftest import find_uv

        command = [find_uv(), "pip", *map(str, arguments), f"--python={self.target / 'bin' / 'python'}"]
        subprocess.run(command, env=self.bench.env, check=True, capture_output=True)

    def healthy(self) -> bool:
        return without_byte_code(self.target) == self.before and codes(self.doctor()) == []


@pytest.fixture
def clinic(bench: Bench) -> Clinic:
    return Clinic(bench)


def test_a_new_environment_is_healthy(clinic: Clinic) -> None:
    done = clinic.bench.run("doctor", clinic.target, "--json")
    assert (done.code, done.data["ok"], codes(done)) == (0, True, [])
    assert {check["status"] for check in done.data["checks"]} <= {"ok", "info", "skipped"}
    assert done.data["environment"]["stack"] == "tiny==1.0"
    assert done.data["probe"]["ok"] is True


def clobber(clinic: Clinic) -> str:
    """Install another torch: its files win, and the record that torch is provided goes."""
    clinic.bench.index.add(
        "torch", "3.0", files={"torch/__init__.py": "__version__ = 'other'", "torch/new.py": ""}
    )
    clinic.pip("install", "--no-deps", f"--index-url={clinic.bench.index.url}", "torch==3.0")
    return "torch-clobber"


def clobber_and_remove(clinic: Clinic) -> str:
    clobber(clinic)
    clinic.pip("uninstall", "torch")
    return "torch-clobber"


def cut_off(clinic: Clinic) -> str:
    """Cut a file off in place, and so in uv's cache too, to which it is linked."""
    with (clinic.site / "torch" / "__init__.py").open("r+b") as file:
        file.truncate(0)
    return "damaged-file"


def cut_off_a_copy(clinic: Clinic) -> str:
    path = clinic.site / "tiny_vision" / "__init__.py"
    path.unlink()
    path.write_bytes(b"")
    return "damaged-file"


def too_new(clinic: Clinic) -> str:
    """Take a dependency over the stack's ceiling."""
    clinic.bench.index.add("tiny-numbers", "3.0")
    clinic.pip("install", "--no-deps", f"--index-url={clinic.bench.index.url}", "tiny-numbers==3.0")
    return "dependency-too-new"


def gone(clinic: Clinic) -> str:
    clinic.pip("uninstall", "tiny-numbers")
    return "distribution-missing"


@pytest.mark.parametrize(
    "fault", [clobber, clobber_and_remove, cut_off, cut_off_a_copy, too_new, gone], ids=lambda f: f.__name__
)
def test_found_and_repaired(clinic: Clinic, fault: Callable[[Clinic], str]) -> None:
    code = fault(clinic)
    found = clinic.doctor()
    assert code in codes(found, "error") and (found.code, found.data["ok"]) == (1, False)
    done = clinic.doctor("--fix", "--yes")
    assert done.data["fix"]["ok"] is True, done.err
    assert code in done.data["fix"]["codes"] and done.data["fix"]["commands"]
    assert (done.code, done.data["ok"]) == (0, True)
    assert clinic.healthy()
    assert clinic.bench.left_over() == []


def test_without_a_terminal_nobody_agreed(clinic: Clinic) -> None:
    code = gone(clinic)
    broken = without_byte_code(clinic.target)
    done = clinic.doctor("--fix")
    assert (done.code, done.data["fix"]["ok"], done.data["fix"]["why"]) == (1, None, "nobody agreed")
    assert code in codes(done) and "tiny-numbers" in done.err
    assert without_byte_code(clinic.target) == broken


def test_a_repair_whose_packages_can_not_be_fetched_changes_nothing(clinic: Clinic) -> None:
    clobber(clinic)
    shutil.rmtree(clinic.bench.folder / "uv-cache")
    clinic.bench.index.fail("404", "*.whl")
    broken = without_byte_code(clinic.target)
    done = clinic.doctor("--fix", "--yes")
    assert (done.code, done.data["fix"]["ok"]) == (1, False)
    assert "repair failed" in done.err
    assert without_byte_code(clinic.target) == broken
    assert clinic.bench.left_over() == []


def test_what_envsetup_did_not_make_it_does_not_repair(clinic: Clinic) -> None:
    (clinic.target / "envsetup.json").unlink()
    code = clobber(clinic)
    broken = without_byte_code(clinic.target)
    done = clinic.doctor("--fix", "--yes")
    assert "not made by envsetup" in done.data["fix"]["why"] and done.code == 1
    assert code in codes(done) and done.data["findings"][0]["fix"]["steps"]
    assert without_byte_code(clinic.target) == broken


def test_a_failing_probe_names_its_stage(clinic: Clinic) -> None:
    done = clinic.bench.run("doctor", clinic.target, "--json", "--only", "probe", FAKE_TORCH="raise")
    assert (done.code, codes(done)) == (1, ["probe-failed"])
    assert "FAKE_TORCH says so" in done.data["findings"][0]["evidence"][0]


def test_another_environments_packages(clinic: Clinic, tmp_path: Path) -> None:
    other = tmp_path / "other" / "torch"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    (clinic.site / "torch-9.dist-info").mkdir()
    done = clinic.doctor("--only", "isolation", PYTHONPATH=f"{clinic.bench.env['PYTHONPATH']}:{other.parent}")
    assert codes(done) == ["environment-leak"]


def test_an_interpreter_that_was_removed(clinic: Clinic) -> None:
    python = clinic.target / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python")
    done = clinic.doctor()
    assert "interpreter-broken" in codes(done, "error")
    assert {c["name"] for c in done.data["checks"]} >= {"files", "libraries"}


def test_the_list_and_the_choice(clinic: Clinic) -> None:
    listed = clinic.bench.run("doctor", "--list", "--json").data["checks"]
    assert {"system", "files", "probe"} <= {check["name"] for check in listed}
    chosen = clinic.doctor("--only", "files,wheels", "--only", "system")
    assert [check["name"] for check in chosen.data["checks"]] == ["system", "wheels", "files"]
    assert clinic.bench.run("doctor", "--only", "nothing").code == 2
    assert clinic.bench.run("doctor", "--only", "files").code == 2
    assert clinic.bench.run("doctor", clinic.bench.folder).code == 2


def test_page_and_record(clinic: Clinic, tmp_path: Path) -> None:
    gone(clinic)
    page, record = tmp_path / "page.html", tmp_path / "record.json"
    done = clinic.doctor("--html", page, "--record", record, HOME=str(tmp_path), USER="ada-l")
    assert "distribution-missing" in codes(done) and "distribution-missing" in page.read_text("utf-8")
    assert str(tmp_path) not in record.read_text("utf-8")
    again = clinic.bench.run("doctor", "--machine", record, "--json", "--no-probe")
    assert again.data["schema"] == 1 and again.data["environment"] is None


def test_the_words_are_for_people(clinic: Clinic) -> None:
    gone(clinic)
    done = clinic.bench.run("doctor", clinic.target, "--no-probe")
    assert done.code == 1
    assert "distribution-missing" in done.out and "what to do" in done.out and str(clinic.target) in done.out
    assert "\x1b[" not in done.out


CASES = [
    (
        {"os": "linux", "wsl": False, "packages": {"tensorflow": "2.3.0", "protobuf": "5.26.1"}},
        "",
        "protobuf-too-new",
    ),
    ({"os": "linux", "wsl": False}, "pip install tensorflow-directml", "directml-on-native-linux"),
]


@pytest.mark.parametrize(("facts", "wanted", "code"), CASES)
def test_facts_of_another_machine(bench: Bench, facts: Mapping[str, Any], wanted: str, code: str) -> None:
    case = bench.folder / "case.json"
    case.write_text(json.dumps({"facts": facts, "wanted": wanted}), "utf-8")
    done = bench.run("doctor", "--json", "--no-probe", "--machine", case)
    assert (done.code, done.data["findings"][0]["code"]) == (1, code)


def test_interrupted_while_it_repairs(clinic: Clinic) -> None:
    """Before anything was removed: it is as it was."""
    clobber(clinic)
    shutil.rmtree(clinic.bench.folder / "uv-cache")
    clinic.bench.index.fail("hang", "*.whl")
    broken = without_byte_code(clinic.target)
    arguments = ("doctor", clinic.target, "--json", "--no-probe", "--fix", "--yes")
    process = subprocess.Popen(
        clinic.bench.command(*arguments),
        env={**clinic.bench.env, "UV_HTTP_TIMEOUT": "60"},
        cwd=clinic.bench.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: any(name.startswith(".env.envsetup-fix-") for name in clinic.bench.left_over()))
    assert end(process, signal.SIGINT).code == 130
    assert without_byte_code(clinic.target) == broken
    assert clinic.bench.left_over() == []


# With real packages.


def real(*arguments: object, **env: str) -> Done:
    """Run the program with this machine's own settings and cache."""
    command = [sys.executable, "-m", "envsetup", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, env={**os.environ, **env})
    assert "Traceback" not in done.stderr and "bug in envsetup" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def wsl(wsl_libraries: Path, openmp_and_blas: str) -> Dict[str, str]:
    return {"LD_LIBRARY_PATH": ":".join(filter(None, [str(wsl_libraries), openmp_and_blas]))}


@pytest.fixture(scope="module")
def directml(
    tmp_path_factory: pytest.TempPathFactory, pythons: Callable[[str], Path], wsl: Dict[str, str]
) -> Path:
    pythons("3.8")
    path = tmp_path_factory.mktemp("dml") / "env"
    made = real(
        "create",
        path,
        "--backend",
        "dml",
        "--assume",
        "wsl=2",
        "--assume",
        "gpu=1002:67df",
        "--no-probe",
        **wsl,
    )
    assert made.code == 0, made.err
    return path


@pytest.fixture(scope="module")
def tensorflow(tmp_path_factory: pytest.TempPathFactory, pythons: Callable[[str], Path]) -> Path:
    pythons("3.8")
    path = tmp_path_factory.mktemp("tf") / "env"
    words = ("gpu=10de:1e04", "driver.nvidia=440.33", "cuda=10.1", "cudnn=7.6.5")
    assumed = [word for one in words for word in ("--assume", one)]
    made = real("create", path, "--backend", "cuda", "--no-probe", *assumed)
    assert made.code == 0, made.err
    return path


@pytest.fixture(scope="module")
def tensorflow_cpu(tmp_path_factory: pytest.TempPathFactory, pythons: Callable[[str], Path]) -> Path:
    pythons("3.10")
    path = tmp_path_factory.mktemp("cpu") / "env"
    assert real("create", path, "--stack", "tensorflow-cpu==2.10", "--python", "3.10").code == 0
    return path


# What is true of these environments on a Linux without GPU and outside WSL, and no fault of theirs.
HERE = {"gpu-not-found", "machine-lacks", "directml-on-native-linux", "tf-cuda-toolkit-mismatch"}


def own_errors(done: Done) -> List[str]:
    return [code for code in codes(done) if code not in HERE]


@pytest.mark.parametrize("name", ["directml", "tensorflow", "tensorflow_cpu"])
@pytest.mark.heavy(disk=8)
@pytest.mark.network
def test_no_false_alarm(request: pytest.FixtureRequest, name: str, wsl: Dict[str, str]) -> None:
    done = real("doctor", request.getfixturevalue(name), "--no-probe", **wsl)
    assert own_errors(done) == []
    assert name != "tensorflow_cpu" or done.code == 0


@pytest.mark.heavy(disk=8)
@pytest.mark.network
def test_the_cpu_environment_proves_itself(tensorflow_cpu: Path) -> None:
    done = real("doctor", tensorflow_cpu)
    assert (done.code, done.data["probe"]["device"]) == (0, "cpu")


def install(environment: Path, *requirements: str) -> None:
    from tests.conftest import find_uv

    python = environment / "bin" / "python"
    command = [find_uv(), "pip", "install", "--no-deps", f"--python={python}", *requirements]
    subprocess.run(command, check=True, capture_output=True)


def truncate(environment: Path, file: str) -> None:
    """Cut a file off, and not the cache's, which it may be linked to."""
    path = site_packages(environment) / file
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[: len(content) // 3])


FAULTS = {
    "torch over pytorch-directml": ("directml", ["torch==1.8.1"], "", "torch-clobber"),
    "torchvision of another torch": ("directml", ["torchvision==0.10.0"], "", "torchvision-mismatch"),
    "a truncated library": ("directml", [], "torch/lib/libtorch_cpu.so", "damaged-file"),
    "protobuf 5 in TensorFlow 2.3": ("tensorflow", ["protobuf==5.29.5"], "", "protobuf-too-new"),
    "h5py 3 in TensorFlow 2.3": ("tensorflow", ["h5py==3.11.0"], "", "h5py-too-new"),
    "numpy 2 in TensorFlow 2.10": ("tensorflow_cpu", ["numpy==2.0.2"], "", "numpy-too-new"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.heavy(disk=8)
@pytest.mark.network
def test_real_faults(request: pytest.FixtureRequest, tmp_path: Path, wsl: Dict[str, str], fault: str) -> None:
    name, requirements, file, code = FAULTS[fault]
    original: Path = request.getfixturevalue(name)
    environment = tmp_path / "env"
    shutil.copytree(original, environment, symlinks=True)
    request.addfinalizer(lambda: shutil.rmtree(environment))  # pytest would keep a gigabyte of each
    if requirements:
        install(environment, *requirements)
    if file:
        truncate(environment, file)
    found = real("doctor", environment, "--no-probe", **wsl)
    assert code in codes(found, "error") and found.code == 1
    fixed = real("doctor", environment, "--no-probe", "--fix", "--yes", **wsl)
    assert fixed.data["fix"]["ok"] is True, fixed.err
    assert own_errors(fixed) == []
    assert without_byte_code(environment) == without_byte_code(original)


@pytest.mark.heavy(disk=8)
@pytest.mark.network
def test_numpy_2_in_an_old_torch(tmp_path: Path, pythons: Callable[[str], Path], uv: str) -> None:
    """An environment that envsetup did not make: the cause and the command, and nothing is touched."""
    environment = tmp_path / "env"
    subprocess.run([uv, "venv", "-q", "--no-project", f"--python={pythons('3.10')}", environment], check=True)
    install(environment, "torch==2.2.2", "numpy==2.0.2")
    done = real("doctor", environment, "--no-probe", "--fix", "--yes")
    assert "numpy-too-new" in codes(done, "error")
    finding = next(f for f in done.data["findings"] if f["code"] == "numpy-too-new")
    assert any("numpy<2" in step for step in finding["fix"]["steps"])
    assert "not made by envsetup" in done.data["fix"]["why"]


@pytest.mark.heavy(disk=8)
@pytest.mark.network
def test_a_missing_system_library(directml: Path, wsl_libraries: Path, tmp_path: Path) -> None:
    """OpenMP hidden by an empty file in its place, in a mount namespace of the run's own."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    files = {line.split("=> ")[1] for line in listed.splitlines() if "libomp.so.5 " in line}
    hidden = tmp_path / "empty"
    hidden.touch()
    if files:
        mounts = " && ".join(f"mount --bind {hidden} {file}" for file in files)
        probe = subprocess.run(["unshare", "-m", "sh", "-c", mounts], capture_output=True, text=True)
        if probe.returncode:
            pytest.skip(f"no mount namespace: {probe.stderr.strip()}")
        wrapped = ["unshare", "-m", "sh", "-c", f'{mounts} && exec "$@"', "sh"]
    else:
        wrapped = []
    command = [
        *wrapped,
        sys.executable,
        "-m",
        "envsetup",
        "doctor",
        str(directml),
        "--no-probe",
        "--fix",
        "--yes",
        "--json",
    ]
    env = {**os.environ, "LD_LIBRARY_PATH": str(wsl_libraries)}
    run = subprocess.run(command, capture_output=True, text=True, env=env)
    done = Done(run.returncode, run.stdout, run.stderr)
    finding = next(f for f in done.data["findings"] if f["code"] == "missing-native-library")
    assert any("libomp.so.5" in text for text in finding["evidence"])
    assert finding["fix"]["steps"] and done.data["fix"]["commands"] == []
    assert "nothing that envsetup can repair" in done.data["fix"]["why"]
