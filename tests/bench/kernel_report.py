#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the resources of every kernel on every architecture; fails if a kernel spills registers or has a stack.

usage: kernel_report.py NVCC ARCHS [NVCC_ARGS...] -- KERNEL_FILES...

ARCHS are compute capabilities separated by commas, such as 75,90. Registers, memory and spills are reported by ptxas,
threads per block are those of __launch_bounds__. Occupancy is the fraction of an SM's warps that its registers, static
shared memory (dynamic shared memory is not known here), threads and blocks allow. Exit status: 0, or 1 if a kernel
spills or uses a stack in local memory, 2 if a file does not compile.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

JOBS = 2  # compilations at once
WARP = 32  # threads
REGISTERS = 65536  # per SM, on all of these
PARTITIONS = 4  # of an SM, each with a quarter of the registers
REGISTER_GRANULARITY = 256  # per warp


@dataclass
class Limits:
    """Limits of an SM: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"."""

    threads: int
    blocks: int
    shared_bytes: int
    reserved_bytes: int = 1024  # shared memory that the driver reserves per block
    granularity_bytes: int = 128  # of shared memory allocations


LIMITS = {
    75: Limits(1024, 16, 64 << 10, reserved_bytes=0, granularity_bytes=256),
    80: Limits(2048, 32, 164 << 10),
    86: Limits(1536, 16, 100 << 10),
    87: Limits(1536, 16, 164 << 10),
    88: Limits(1536, 16, 100 << 10),
    89: Limits(1536, 24, 100 << 10),
    90: Limits(2048, 32, 228 << 10),
    100: Limits(2048, 32, 228 << 10),
    103: Limits(2048, 32, 228 << 10),
    110: Limits(1536, 24, 228 << 10),
    120: Limits(1536, 24, 100 << 10),
    121: Limits(1536, 24, 100 << 10),
}


@dataclass
class Kernel:
    """One kernel, or a device function that was not inlined (whose registers are not reported)."""

    symbol: str
    arch: str
    is_kernel: bool = False
    registers: int = 0
    shared_bytes: int = 0
    stack_bytes: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    threads: int = 0  # 0: no launch bounds
    name: str = ""

    def uses_local_memory(self):
        return self.stack_bytes + self.spill_stores + self.spill_loads > 0


def round_up(n, granularity):
    return -(-n // granularity) * granularity


def occupancy(kernel, limits):
    """The resident blocks per SM and the limiting resource, by the rules of cuda_occupancy.h."""
    warps = round_up(kernel.threads, WARP) // WARP
    warp_registers = round_up(max(kernel.registers, 1) * WARP, REGISTER_GRANULARITY)
    warps_by_registers = REGISTERS // PARTITIONS // warp_registers * PARTITIONS
    shared = round_up(kernel.shared_bytes + limits.reserved_bytes, limits.granularity_bytes)
    allowed = {
        "threads": limits.threads // (warps * WARP),
        "blocks": limits.blocks,
        "registers": warps_by_registers // warps,
        "shared memory": limits.shared_bytes // shared if shared else limits.blocks,
    }
    limiter = min(allowed, key=allowed.get)  # the first of equal ones
    return allowed[limiter], limiter


def parse_ptxas(text, arch):
    """The functions in the messages of ptxas -v, by symbol."""
    found = {}
    current = None
    for line in text.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            current = found.setdefault(match[1], Kernel(match[1], arch))
            current.is_kernel = True
        elif match := re.search(r"Function properties for '?([^\s']+)", line):
            current = found.setdefault(match[1], Kernel(match[1], arch))
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            current.stack_bytes, current.spill_stores, current.spill_loads = map(int, match.groups())
        elif match := re.search(r"Used (\d+) registers", line):
            current.registers = int(match[1])
            if shared := re.search(r"(\d+) bytes smem", line):
                current.shared_bytes = int(shared[1])
    return found


def read_launch_bounds(ptx, kernels):
    """Fills in threads from the .maxntid between a kernel's parameters and its body."""
    for symbol, directives in re.findall(r"\.entry\s+([\w$]+)\s*\([^)]*\)([^{]*)\{", ptx):
        if symbol in kernels and (match := re.search(r"\.maxntid\s+([\d, ]+)", directives)):
            threads = 1
            for side in match[1].split(","):
                threads *= int(side)
            kernels[symbol].threads = threads


def compile_kernels(nvcc, arguments, source, arch):
    """The functions of a source file for one architecture, and the compiler's messages if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, *arguments, f"-arch=sm_{arch}", "-cubin", "-Xptxas", "-v", "--keep", "--keep-dir", folder,
                   "-o", f"{folder}/kernels.cubin", source]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            return [], f"{' '.join(command)}\n{result.stdout}{result.stderr}"
        kernels = parse_ptxas(result.stdout + result.stderr, arch)
        for ptx in pathlib.Path(folder).glob("*.ptx"):
            read_launch_bounds(ptx.read_text(), kernels)
        return list(kernels.values()), ""


def demangle(kernels):
    """Names as in the source, without parameters and namespaces."""
    symbols = "\n".join(kernel.symbol for kernel in kernels)
    names = subprocess.run(["c++filt"], input=symbols, capture_output=True, text=True, check=True).stdout.splitlines()
    for kernel, name in zip(kernels, names):
        name = name.replace("(anonymous namespace)::", "").replace("(bool)0", "false").replace("(bool)1", "true")
        name = re.sub(r"\([\w: ]+\)(?=-?\d)", "", name)  # also casts to an enum
        name = name.split("(")[0].removeprefix("void ")
        kernel.name = re.sub(r"\b\w+::", "", name)


def table(kernels):
    rows = [("kernel", "arch", "regs", "shared", "stack", "spill st", "spill ld", "threads", "warps/SM", "occupancy")]
    for kernel in kernels:
        limits = LIMITS.get(int(re.match(r"\d+", kernel.arch)[0]))
        warps, share = "-", "unknown architecture" if limits is None else "no launch bounds"
        if not kernel.is_kernel:
            share = "a function that is called"
        elif limits is not None and kernel.threads:
            blocks, limiter = occupancy(kernel, limits)
            held, most = blocks * (round_up(kernel.threads, WARP) // WARP), limits.threads // WARP
            warps, share = f"{held}/{most}", f"{100 * held / most:.0f} % by {limiter}"
        rows.append((kernel.name, "sm_" + kernel.arch, str(kernel.registers), str(kernel.shared_bytes),
                     str(kernel.stack_bytes), str(kernel.spill_stores), str(kernel.spill_loads),
                     str(kernel.threads or "-"), warps, share))
    widths = [max(map(len, column)) for column in zip(*rows)]
    left = (0, 1, len(rows[0]) - 1)
    return "\n".join("  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def known_archs(nvcc, wanted):
    known = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=True).stdout.split()
    for arch in wanted:
        if "sm_" + arch not in known:
            print(f"left out: this nvcc knows no sm_{arch}")
    return [arch for arch in wanted if "sm_" + arch in known]


def main(arguments):
    if len(arguments) < 4 or "--" not in arguments:
        sys.exit(__doc__)
    nvcc, archs, rest = arguments[0], arguments[1].split(","), arguments[2:]
    nvcc_arguments, sources = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    jobs = [(source, arch) for source in sources for arch in known_archs(nvcc, archs)]
    kernels = []
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for found, error in pool.map(lambda job: compile_kernels(nvcc, nvcc_arguments, *job), jobs):
            if error:
                print(error, file=sys.stderr)
                return 2
            kernels += found
    demangle(kernels)
    kernels.sort(key=lambda kernel: (kernel.name, int(re.match(r"\d+", kernel.arch)[0])))
    print(table(kernels))
    bad = [kernel for kernel in kernels if kernel.uses_local_memory()]
    for kernel in bad:
        print(f"FAIL: {kernel.name} on sm_{kernel.arch}: {kernel.stack_bytes} bytes of stack, "
              f"{kernel.spill_stores} bytes of spill stores, {kernel.spill_loads} bytes of spill loads")
    if not bad:
        print("No kernel spills or has a stack.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
