"""Linux machines."""

from __future__ import annotations

from tests.machine.fake_host import FakeHost, cpuinfo, cudnn_header, elf, os_release

CUDA, LIB = "/usr/local/cuda-10.1", "/usr/lib/x86_64-linux-gnu"
NVML_1080TI = {
    "driver": "440.33.01",
    "cuda": "10.2",
    "gpus": [
        {
            "name": "GeForce GTX 1080 Ti",
            "vendor": 0x10DE,
            "device": 0x1B06,
            "bus": "0000:01:00.0",
            "memory": 11 << 30,
            "compute_capability": "6.1",
        }
    ],
}


def debian_1080ti():
    return FakeHost(
        {"release": "4.19.0-17-amd64", "libc": "glibc 2.28"},
        files={
            "/etc/os-release": os_release('"Debian GNU/Linux"', "debian", '"10"'),
            "/proc/version": "Linux version 4.19",
            "/proc/cpuinfo": cpuinfo("Intel(R) Core(TM) i7-8700K", "sse2 avx avx2 fma"),
            "/proc/driver/nvidia/version": "NVIDIA UNIX x86_64 Kernel Module  440.33.01  Wed Nov 13\n",
            "/sys/module/nvidia/version": "440.33.01\n",
            **_pci("0000:00:02.0", "0x030000", "0x8086", "0x3e92"),
            **_pci("0000:01:00.0", "0x030000", "0x10de", "0x1b06"),
            **_pci("0000:01:00.1", "0x040300", "0x10de", "0x10ef"),
            "/usr/local/cuda-10.1/version.txt": "CUDA Version 10.1.243\n",
            "/usr/local/cuda-10.1/bin/nvcc": elf(),
            "/usr/local/cuda-10.1/lib64/libcudart.so.10.1.243": "",
            "/usr/local/cuda-10.1/lib64/libcudnn.so.7.6.5": "",
            "/usr/local/cuda-10.1/include/cudnn.h": cudnn_header(7, 6, 5),
            "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.440.33.01": "",
            "/home/ada/.pyenv/versions/3.8.18/bin/python3.8": elf(),
            "/usr/bin/python3.7": elf(),
            "/home/ada/work/venv/pyvenv.cfg": "home = /home/ada/.pyenv/versions/3.8.18/bin\n",
        },
        links={
            "/usr/local/cuda": "/usr/local/cuda-10.1",
            f"{CUDA}/lib64/libcudart.so.10.1": f"{CUDA}/lib64/libcudart.so.10.1.243",
            f"{CUDA}/lib64/libcudnn.so.7": f"{CUDA}/lib64/libcudnn.so.7.6.5",
            f"{LIB}/libnvidia-ml.so.1": f"{LIB}/libnvidia-ml.so.440.33.01",
            "/usr/bin/python3": "/usr/bin/python3.7",
            "/home/ada/.pyenv/versions/3.8.18/bin/python": "/home/ada/.pyenv/versions/3.8.18/bin/python3.8",
            "/home/ada/work/venv/bin/python": "/home/ada/.pyenv/versions/3.8.18/bin/python3.8",
            "/sys/bus/pci/devices/0000:00:02.0/driver": "/sys/bus/pci/drivers/i915",
        },
        env={
            "HOME": "/home/ada",
            "PATH": "/home/ada/work/venv/bin:/usr/local/cuda/bin:/usr/bin",
            "LD_LIBRARY_PATH": "/usr/local/cuda/lib64",
        },
        run={"/usr/bin/python3": "3.7.3 64 cpython\n", "/usr/bin/python3.7": "3.7.3 64 cpython\n"},
        native={"nvml": NVML_1080TI},
        linker_cache=["/usr/local/cuda-10.1/lib64/libcudart.so.10.1"],
    )


def _pci(address, kind, vendor, device):
    folder = f"/sys/bus/pci/devices/{address}"
    return {f"{folder}/class": kind, f"{folder}/vendor": vendor, f"{folder}/device": device}


def alpine():
    return FakeHost(
        {"release": "6.1.0", "libc": None},
        files={
            "/etc/os-release": 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.18.4\n',
            "/lib/ld-musl-x86_64.so.1": elf(),
            "/proc/version": "Linux",
            "/proc/cpuinfo": cpuinfo("Intel(R) Celeron(R) N4505", "sse4_2"),
            "/sys/class/net/lo": "",
            "/usr/bin/python3.11": elf(),
        },
        run={
            "/lib/ld-musl-x86_64.so.1": (1, "musl libc (x86_64)\nVersion 1.2.4\nDynamic Program Loader\n"),
            "/usr/bin/python3.11": "3.11.6 64 cpython",
        },
        env={"HOME": "/root", "PATH": "/usr/bin"},
    )


def centos_7():
    return FakeHost(
        {"release": "3.10.0-1160.el7.x86_64", "libc": "glibc 2.17"},
        files={
            "/etc/os-release": os_release('"CentOS Linux"', '"centos"', '"7"'),
            "/lib64/libc-2.17.so": "",
            "/proc/version": "Linux",
            "/proc/cpuinfo": cpuinfo("Intel(R) Xeon(R) CPU E5-2670", "sse2 avx"),
            **_pci("0000:08:00.0", "0x030000", "0x102b", "0x0522"),
            "/usr/bin/python2.7": elf(),
            "/opt/conda/bin/python": elf(),
            "/opt/conda/conda-meta/python-3.8.5-h7579374_1.json": "{}",
            "/opt/conda/envs/old/bin/python": elf(),
            "/opt/conda/envs/old/conda-meta/python-3.6.13-h12debd9_1.json": "{}",
            "/root/.local/share/uv/python/cpython-3.12.3-linux-x86_64-gnu/bin/python": elf(),
        },
        run={"/usr/bin/python2.7": "2.7.5 64 cpython"},
        env={"HOME": "/root", "PATH": "/usr/bin"},
    )


def jetson():
    return FakeHost(
        {"machine": "aarch64", "release": "5.10.104-tegra", "libc": "glibc 2.31"},
        files={
            "/etc/os-release": 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="20.04"\n',
            "/etc/nv_tegra_release": "# R35",
            "/proc/version": "Linux",
            "/proc/cpuinfo": "processor : 0\nmodel name : ARMv8 Processor rev 1\nFeatures : fp asimd\n\n",
            "/sys/class/drm/card0/device/uevent": "DRIVER=nvgpu\nOF_COMPATIBLE_0=nvidia,ga10b\n",
            "/usr/bin/python3.8": elf(0xB7),
            "/usr/local/bin/python3.9": elf(0x28, 32),
        },
        run={"/usr/bin/python3.8": "3.8.10 64 cpython", "/usr/local/bin/python3.9": "3.9.1 32 cpython"},
        env={"HOME": "/root", "PATH": "/usr/bin:/usr/local/bin"},
    )
