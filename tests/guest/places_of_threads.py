# SPDX-License-Identifier: LGPL-2.1-or-later
"""Surroundings: threads, signals, and children of the process."""
import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading

from place import LIBC, Hooks, demand, load, place, remark, skip

THREAD_NAME = "cudavision"  # of the plugin's threads
NO_THREADS = "The system refuses threads"
OF_THE_C_LIBRARY = 3 << 31  # the signals 32 and 33


def threads():
    """The status of each thread of the plugin, as the fields of its file in /proc."""
    found = []
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/self/task/{task}/status", encoding="ascii") as status:
                fields = dict(line.rstrip("\n").split(":\t", 1) for line in status)
            if fields["Name"] == THREAD_NAME:
                found.append(fields)
    return found


def signal_masks(*names):
    with open("/proc/self/status", encoding="ascii") as status:
        masks = dict(line.split() for line in status if line.startswith(names))
    return {name: int(mask, 16) & ~OF_THE_C_LIBRARY for name, mask in masks.items()}


class WatchedThreads(Hooks):
    """Keeps the status of the plugin's threads in the middle of a stream."""

    def __init__(self):
        self.seen = []

    def came(self, _):
        self.seen += threads()


@place("signals of the host arrive all the time")
def signals():
    taken = [0]

    def take(*_):
        taken[0] += 1

    for number in (signal.SIGALRM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN + 1):
        signal.signal(number, take)
    handled = signal_masks("SigCgt", "SigIgn")
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    hooks = WatchedThreads()
    yield hooks
    signal.setitimer(signal.ITIMER_REAL, 0)
    demand(taken[0] > 20, "the host got no signals")
    demand(signal_masks("SigCgt", "SigIgn") == handled, "the plugin has changed handlers of signals")
    demand(hooks.seen or len(os.sched_getaffinity(0)) == 1, "the plugin had no threads")
    never_blocked = OF_THE_C_LIBRARY | sum(1 << number - 1 for number in (signal.SIGKILL, signal.SIGSTOP))
    for status in hooks.seen:
        demand(int(status["SigBlk"], 16) | never_blocked == (1 << 64) - 1, f"a thread takes signals: {status['SigBlk']}")
    remark(f"{taken[0]} signals, none on one of {len(hooks.seen)} threads")


@place("the host blocks all signals")
def blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    before = signal_masks("SigBlk")
    yield None
    demand(signal_masks("SigBlk") == before, "the signals of the host's thread have changed")


@place("no thread is to be had", preload="libguest_refuse.so", warning=NO_THREADS)
def no_threads():
    yield from refused_threads(0)


@place("one thread is to be had, later none", preload="libguest_refuse.so", warning=NO_THREADS)
def few_threads():
    yield from refused_threads(1)


def refused_threads(count):
    load()
    LIBC.guest_refuse(b"threads", ctypes.c_long(count), 1)
    yield None


class NoMoreThreads(Hooks):
    """From the first frame of each pipeline on, the system refuses threads: GStreamer has started its own by then."""

    def entering(self):
        resource.setrlimit(resource.RLIMIT_NPROC, (0, resource.getrlimit(resource.RLIMIT_NPROC)[1]))

    def ended(self):
        most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


@place("the limit of processes is reached", warning=NO_THREADS)
def no_processes():
    load()
    if os.geteuid() == 0:
        os.setresgid(54321, 54321, 54321)
        os.setresuid(54321, 54321, 54321)  # the limit does not hold for root
    hooks = NoMoreThreads()
    hooks.entering()
    try:
        threading.Thread(target=int).start()
        skip("the limit of processes does not hold here")
    except RuntimeError:
        hooks.ended()
    yield hooks


# --- processes ---

def child(work):
    """Runs work in a child after fork(), and expects that it ends well within ten seconds."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        work()
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    demand(status == 0, f"the child ended in {status}")


@place("a child of a host that has loaded the plugin")
def fork_before_use():
    load()
    pid = os.fork()
    if pid != 0:
        demand(os.waitpid(pid, 0)[1] == 0, "the child died")
        os._exit(0)
    signal.alarm(60)
    yield None


def inheritable():
    """The files that a program which the process starts would inherit. GStreamer's own sockets are none of these."""
    files = []
    for fd in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # another thread has closed it meanwhile
            if os.get_inheritable(fd):
                files.append(os.readlink(f"/proc/self/fd/{fd}"))
    return sorted(name for name in files if name.startswith("/"))


class Forks(Hooks):
    """Forks at each frame. The children end by turns in each way that is allowed after the first use."""
    ways = [lambda: None, lambda: LIBC.exit(0), lambda: os.execv("/bin/true", ["true"])]

    def __init__(self):
        self.before = inheritable()

    def came(self, count):
        child(self.ways[count % len(self.ways)])
        demand(inheritable() == self.before, f"children inherit {inheritable()}")


@place("children of a host that plays")
def fork_in_use():
    yield Forks()
