# SPDX-License-Identifier: LGPL-2.1-or-later
"""Surroundings: less of everything, forbidden system calls, other arithmetic."""
import ctypes
import os
import resource

from place import Hooks, demand, load, place, set_stacks, skip


@place("small stacks", is_case=False)
def small_stacks():
    load()
    set_stacks()
    yield None


@place("videotestsrc alone", is_case=False)
def videotestsrc():
    set_stacks()
    import play
    came = []
    hooks = Hooks()
    hooks.came = came.append
    play.play("identity name=e", hooks=hooks)
    os._exit(0 if came else 1)  # Python 3.14 itself refuses to run in a stack of 32 KiB
    yield None


class FewDescriptors(Hooks):
    def __init__(self, free):
        self.free = free

    def entering(self):
        highest = max(map(int, os.listdir("/proc/self/fd")))
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1 + self.free, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))




@place("20 descriptors are free")
def few_descriptors():
    load()
    FewDescriptors(20).entering()
    yield None


@place("no descriptor is free during a frame")
def no_descriptors():
    class Hooks(FewDescriptors):
        def ended(self):
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    load()
    yield Hooks(0)


def seccomp(error):
    """Makes system calls fail that sandboxes forbid: those for huge pages and placement, and the ioctls of GPUs."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        skip("libseccomp2 is not installed")

    class Comparison(ctypes.Structure):
        _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("mask", ctypes.c_uint64),
                    ("value", ctypes.c_uint64)]

    allow, fails, masked_equal = 0x7FFF0000, 0x00050000 | error, 7
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(allow)))
    forbidden = ["madvise", "membarrier", "sched_getaffinity", "sched_setaffinity", "get_mempolicy", "set_mempolicy",
                 "mbind", "mlock", "mlock2", "sched_setscheduler", "setpriority", "sysinfo", "perf_event_open", "bpf", "getcpu",
                 "memfd_create", "userfaultfd", "io_uring_setup", "prctl", "personality", "ptrace", "process_vm_readv"]
    for name in forbidden:
        number = library.seccomp_syscall_resolve_name(name.encode())
        demand(library.seccomp_rule_add_array(context, ctypes.c_uint32(fails), number, 0, None) == 0, name)
    ioctl = library.seccomp_syscall_resolve_name(b"ioctl")
    gpu = Comparison(1, masked_equal, 0xFF00, ord("F") << 8)  # as the drivers of NVIDIA define them
    demand(library.seccomp_rule_add_array(context, ctypes.c_uint32(fails), ioctl, 1, ctypes.byref(gpu)) == 0, "ioctl")
    if library.seccomp_load(context) != 0:
        skip("seccomp is not allowed here")


@place("system calls are forbidden")
def forbidden_calls():
    seccomp(1)  # EPERM
    yield None


@place("system calls are unknown")
def unknown_calls():
    seccomp(38)  # ENOSYS
    yield None

# --- arithmetic ---

@place("the host rounds upwards")
def rounding():
    ctypes.CDLL("libm.so.6").fesetround(0x800 if os.uname().machine == "x86_64" else 0x400000)
    yield None


@place("the host's exceptions of arithmetic are signals")
def arithmetic_traps():
    ctypes.CDLL("libm.so.6").feenableexcept(0x0D)  # an invalid operation, a division by zero, an overflow
    yield None
