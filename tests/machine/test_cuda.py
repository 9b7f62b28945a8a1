"""CUDA toolkits and cuDNN: versions in names and files, and their order."""

from __future__ import annotations

import pytest

from envsetup.machine import cuda, cudnn
from tests.machine import machines
from tests.machine.fake_host import FakeHost, elf, read_twice

LINUX, WINDOWS = FakeHost({}), FakeHost({"system": "windows"})


@pytest.mark.parametrize(
    ("host", "path", "version"),
    [
        (LINUX, "/x/libcudart.so.10.1", "10.1"),
        (LINUX, "/x/libcudart.so.10.1.243", "10.1"),
        (LINUX, "/x/libcudart.so.12", "12"),
        (
            FakeHost(
                {},
                files={"/x/libcudart.so.12.4.127": ""},
                links={"/x/libcudart.so.12": "/x/libcudart.so.12.4.127"},
            ),
            "/x/libcudart.so.12",
            "12.4",
        ),
        (LINUX, "/x/libcudart_static.a", None),
        (WINDOWS, r"C:\x\cudart64_101.dll", "10.1"),
        (WINDOWS, r"C:\x\cudart64_80.dll", "8.0"),
        (WINDOWS, r"C:\x\cudart64_110.dll", "11.0"),
        (WINDOWS, r"C:\x\cudart64_12.dll", "12"),
        (WINDOWS, r"C:\x\CUDART64_65.DLL", "6.5"),
    ],
)
def test_cuda_versions_in_library_names(host, path, version):
    assert cuda.library_version(host, path) == version


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/x/libcudnn.so.7.6.5", "7.6.5"),
        ("/x/libcudnn.so.8", "8"),
        (r"C:\x\cudnn64_7.dll", "7"),
        ("/x/libcudnn_ops.so.9", None),
    ],
)
def test_cudnn_versions_in_library_names(path, version):
    assert cudnn.library_version(LINUX, path) == version


ROOT = "/usr/local/cuda-10.1"
CUDA_ROOTS = {
    "version.json": ({"version.json": '{"cuda": {"version": "11.2.0"}}'}, ["11.2", "10.1"]),
    "version.txt": ({"version.txt": "CUDA Version 10.1.243"}, ["10.1", "10.1"]),
    "cuda.h": ({"include/cuda.h": "#define CUDA_VERSION 10010"}, ["10.1", "10.1"]),
    "a library": ({"lib64/libcudart.so.10.1": ""}, ["10.1", "10.1"]),
    "a stray library beside a version": (
        {"version.txt": "CUDA Version 10.2.89", "lib64/libcudart.so.10.1": ""},
        ["10.2", "10.1", "10.1"],
    ),
    "garbage": (
        {"version.json": "{", "version.txt": "\ufffd" * 99, "include/cuda.h": "#define CUDA_VERSION ten"},
        [],
    ),
    "json of another shape": ({"version.json": '{"cuda": 5}', "doc/x": ""}, []),
    "only the compiler": ({"bin/nvcc": elf()}, ["10.1", "10.1"]),
    "nothing": ({}, []),
}


@pytest.mark.parametrize("name", CUDA_ROOTS)
def test_what_a_cuda_folder_says(name):
    files, expected = CUDA_ROOTS[name]
    host = FakeHost(
        {},
        files={f"{ROOT}/{path}": text for path, text in files.items()},
        run={f"{ROOT}/bin/nvcc": "Cuda compilation tools, release 10.1, V10.1.243\n"},
    )
    assert [version for _, version in cuda.version_of(host, ROOT)] == expected


def test_toolkits_keep_the_order_in_which_programs_see_them():
    host = machines.debian_1080ti()
    host.files["/usr/local/cuda-9.0/version.txt"] = "CUDA Version 9.0.176"
    host.files["/opt/cuda-11.2/version.json"] = '{"cuda": {"version": "11.2.2"}}'
    host.variables["CUDA_HOME"] = "/opt/cuda-11.2"
    found = read_twice(host, only=["cuda"]).value("cuda")
    assert [toolkit["version"] for toolkit in found] == ["11.2", "10.1", "9.0"]
    assert found[1]["path"] == "/usr/local/cuda"


def test_a_library_beside_a_toolkit_is_not_part_of_it():
    host = machines.debian_1080ti()
    host.files["/usr/local/cuda-10.1-copy/libcudart.so.10.1.105"] = ""
    host.variables["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64:/usr/local/cuda-10.1-copy"
    paths = [toolkit["path"] for toolkit in read_twice(host, only=["cuda"]).value("cuda")]
    assert paths == ["/usr/local/cuda", "/usr/local/cuda-10.1-copy/libcudart.so.10.1.105"]


def test_every_cudnn_is_listed_the_first_one_loaded_in_front():
    host = machines.debian_1080ti()
    host.files["/opt/old/libcudnn.so.8.0.4"] = ""
    host.variables["LD_LIBRARY_PATH"] = "/opt/old:/usr/local/cuda/lib64"
    assert [c["version"] for c in read_twice(host, only=["cudnn"]).value("cudnn")] == ["8.0.4", "7.6.5"]
    host.files["/usr/include/cudnn_version.h"] = (
        "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n"
    )
    assert [c["version"] for c in read_twice(host, only=["cudnn"]).value("cudnn")] == [
        "8.0.4",
        "7.6.5",
        "8.9.7",
    ]
