#!/usr/bin/env python3
"""What an idle init costs, and how fast it reaps and forwards: fdfit beside other small inits in one run.

Usage: footprint.py [--json] [--orphans N] [--signals N] [--rounds N]

Each launcher runs as PID 1 of a namespace. The measurements are interleaved, and the median of the rounds counts. Memory is
RSS and PSS of the sleeping launcher. "reap" is the time from the start of the first orphan until none is left a zombie;
"forward" the time for signals that are sent one by one, each when the one before has reached the child. Beside each
stands the launcher's own CPU time, without the work of those who make the orphans and send the signals. Times are given
as a ratio to the first launcher's too: that is the figure to compare between machines.
"""
import argparse
import json
import os
import signal
import statistics
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CLI = os.path.join(os.path.dirname(os.path.dirname(HERE)), "cli")
sys.path.insert(0, CLI)

import init_support  # noqa: E402  (found by the path above)
import support  # noqa: E402
from init_support import children, run_state  # noqa: E402

COLUMNS = ("rss", "pss", "reap", "reap_cpu", "forward", "forward_cpu")


class Bench(init_support.InitCase):
    """Borrows the tests' way of starting launchers; it is run by hand, not by a test runner."""

    as_pid1 = True

    def runTest(self):  # unittest wants a case to have one
        raise NotImplementedError

    def memory(self):
        """RSS and PSS in KiB of a launcher that sleeps after it has forwarded a signal."""
        run = self.start_counting()
        self.signals_until_fence(run)
        support.wait_for(lambda: run_state(run.pid) == "S", "the launcher to sleep")
        found = {}
        with open(f"/proc/{run.pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                words = line.split()
                if words[0] in ("Rss:", "Pss:"):
                    found[words[0][:-1].lower()] = int(words[1])
        return found

    def reap(self, count):
        """Seconds, and the launcher's CPU seconds, for that many orphans."""
        run = self.start(["sh", "-c", f"echo up; read _; exec {support.helper('orphans')} {count}"])
        run.out.line()
        pid, child, cpu = run.pid, run.child, cpu_seconds(run.pid)
        begin = time.monotonic()
        run.popen.stdin.write(b"\n")
        run.popen.stdin.flush()
        run.out.line("the orphans")
        support.wait_for(lambda: children(pid) == [child], "all orphans to be reaped")
        return {"reap": time.monotonic() - begin, "reap_cpu": cpu_seconds(pid) - cpu}

    def forward(self, count):
        """Seconds, and the launcher's CPU seconds, for that many signals one by one."""
        run = self.start_counting()
        pid, cpu = run.pid, cpu_seconds(run.pid)
        begin = time.monotonic()
        for _ in range(count):
            os.kill(pid, signal.SIGUSR1)
            run.out.line("USR1")
        return {"forward": time.monotonic() - begin, "forward_cpu": cpu_seconds(pid) - cpu}


def cpu_seconds(pid):
    """Time on a CPU of a process with one thread, from /proc/PID/schedstat (nanoseconds)."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def one_round(name, options):
    os.environ["FDFIT_TEST_LAUNCHER"] = name
    bench = Bench()
    bench.setUp()
    try:
        return {**bench.memory(), **bench.reap(options.orphans), **bench.forward(options.signals)}
    finally:
        bench.doCleanups()


def available():
    """The launchers that are there, fdfit first."""
    names = []
    for name in init_support.LAUNCHERS:
        os.environ["FDFIT_TEST_LAUNCHER"] = name
        try:
            init_support.launcher()
            names.append(name)
        except unittest.SkipTest as why:
            print(f"footprint: left out: {why}", file=sys.stderr)
    return names


def print_table(results, options):
    print(f"{options.orphans} orphans, {options.signals} signals, median of {options.rounds}; "
          f"memory in KiB, time in ms (ratio to {next(iter(results))})")
    print(f"{'':10}" + "".join(f"{column:>16}" for column in COLUMNS))
    first = next(iter(results.values()))
    for name, found in results.items():
        cells = [str(found[column]) if column in ("rss", "pss") else
                 f"{found[column] * 1000:.1f} ({found[column] / first[column]:.2f})" for column in COLUMNS]
        print(f"{name:10}" + "".join(f"{cell:>16}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print the medians as an object")
    parser.add_argument("--orphans", type=int, default=10000)
    parser.add_argument("--signals", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        names = available()
        if not names:
            sys.exit("footprint: no launcher is installed: set FDFIT, or install tini, dumb-init or catatonit")
        rounds = [{name: one_round(name, options) for name in names} for _ in range(options.rounds)]
    except unittest.SkipTest as why:
        sys.exit(f"footprint: cannot measure here: {why}")
    results = {name: {column: statistics.median(found[name][column] for found in rounds) for column in COLUMNS}
               for name in names}
    if options.json:
        json.dump(results, sys.stdout, indent=2)
        print()
    else:
        print_table(results, options)


if __name__ == "__main__":
    main()
