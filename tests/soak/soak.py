#!/usr/bin/env python3
"""A million forks through init mode: what the supervisor has at the end is what it had after the first minute.

Usage: soak.py FDFIT CHURN [--forks N] [--minutes M]

Two workloads fork without end, one below fdfit as PID 1 under lock = clamp, one below fdfit as a subreaper under
lock = deny. Both are measured and write a report; both share their peak file with a third fdfit that is started over
and over. Signals and stops come all the while. Once a second memory, descriptors and zombies of the two supervisors are
read. TAP on stdout; a table of the minutes on stderr.
"""
import argparse
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

CEILING = 1024
#: As struct counters of churn.c has them.
COUNTERS = ("forks", "orphans", "raises", "above", "signals", "workers", "failed")
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
#: Of each workload, as churn.c has it.
WORKERS = 2
SIGNALS = (signal.SIGUSR1, signal.SIGHUP, signal.SIGRTMIN + 3)


def read(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def children(pid):
    return [int(word) for word in read(f"/proc/{pid}/task/{pid}/children").split()]


def below(pid):
    try:
        found = children(pid)
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [*found, *(lower for child in found for lower in below(child))]


def wait_for(condition, what):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"Bail out! waited in vain for {what}")
        time.sleep(0.01)


class Supervised:
    """One fdfit in init mode with a workload that forks; how it looked at each second."""

    def __init__(self, name, fdfit, churn, folder, options, prefix=()):
        self.name = name
        self.report = os.path.join(folder, f"{name}.prom")
        path = os.path.join(folder, f"{name}.counters")
        with open(path, "wb") as file:
            file.write(bytes(8 * len(COUNTERS)))
        with open(path, "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.stderr = open(os.path.join(folder, f"{name}.stderr"), "w+", encoding="utf-8")
        self.popen = subprocess.Popen(
            [*prefix, fdfit, "--init", f"--nofile=256:{CEILING}", *options, f"--label={name}", "--sample=100ms",
             f"--peak-file={folder}/peak", f"--report={self.report}", "--", churn, path, str(CEILING)],
            stdin=subprocess.DEVNULL, stderr=self.stderr)
        self.pid = self.popen.pid
        if prefix:
            wait_for(lambda: children(self.popen.pid), f"{name} to start")
            self.pid = children(self.popen.pid)[0]
        wait_for(lambda: self.counters()["forks"] > 0, f"{name} to fork")
        self.sent = 0
        self.seen = []

    def counters(self):
        return dict(zip(COUNTERS, struct.unpack(f"{len(COUNTERS)}Q", self.memory[:])))

    def look(self):
        """One second's line: memory that is its own in KiB, descriptors, zombies."""
        status = dict(line.split(":", 1) for line in read(f"/proc/{self.pid}/status").splitlines())
        found = {"anon": int(status["RssAnon"].split()[0]), "rss": int(status["VmRSS"].split()[0]),
                 "fds": len(os.listdir(f"/proc/{self.pid}/fd")), "zombies": self.zombies()}
        self.seen.append(found)

    def zombies(self):
        """Children that have ended and were ended a moment later still: one that waits its turn is none."""
        def ended():
            return {pid for pid in children(self.pid) if state(pid) == "Z"}
        first = ended()
        if not first:
            return 0
        time.sleep(0.2)
        return len(first & ended())

    def send(self, number):
        os.kill(self.pid, number)
        self.sent += 1

    def stop_and_go(self):
        """TSTP stops the workload's main process through the supervisor, which stops itself unless it is PID 1."""
        os.kill(self.pid, signal.SIGTSTP)
        main = children(self.pid)[0]
        wait_for(lambda: state(main) in ("T", None), f"{self.name}'s workload to stop")
        os.kill(self.pid, signal.SIGCONT)
        wait_for(lambda: state(main) != "T" and state(self.pid) != "T", f"{self.name}'s workload to go on")

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        return self.popen.wait(60)

    def kill(self):
        """Whatever is left: the supervisor's end does not end what a subreaper had below it."""
        for pid in [*below(self.popen.pid), self.popen.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.popen.wait(60)


def state(pid):
    try:
        return read(f"/proc/{pid}/stat").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


class Restarts:
    """fdfit started over and over beside the two, on their peak file."""

    def __init__(self, fdfit, folder):
        self.argv = [fdfit, "-q", "--init", "--nofile=128", f"--peak-file={folder}/peak", "--label=again", "--",
                     "sh", "-c", "exit 42"]
        self.count = self.wrong = 0
        self.popen = None

    def turn(self):
        if self.popen and self.popen.poll() is None:
            return
        if self.popen:
            self.count += 1
            self.wrong += self.popen.returncode != 42
        self.popen = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL)

    def end(self):
        self.wrong += self.popen.wait(60) != 42


def minute_of(seen, last):
    """The greatest figures of the first or the last minute, of a short run those of its first or last half."""
    n = min(60, max(1, len(seen) // 2))
    part = seen[-n:] if last else seen[:n]
    return {key: max(line[key] for line in part) for key in part[0]}


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def case(self, good, name, why=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        if why:
            print(f"# {why}", flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def run(supervised, restarts, options, begin):
    """Signals, stops and looks, until there were forks and minutes enough."""
    dice = random.Random(1)
    second = stop_at = 0
    while True:
        now = time.monotonic() - begin
        forks = sum(s.counters()["forks"] for s in supervised)
        if forks >= options.forks and now >= 60 * options.minutes:
            return
        for s in supervised:
            s.send(dice.choice(SIGNALS))
        restarts.turn()
        if now >= stop_at:
            dice.choice(supervised).stop_and_go()
            stop_at = now + 5
        if now >= second:
            for s in supervised:
                s.look()
            second += 1
            if second % 60 == 0:
                print(f"soak: {second // 60} min, {forks} forks, " + ", ".join(
                    f"{s.name} {s.seen[-1]}" for s in supervised), file=sys.stderr, flush=True)
        time.sleep(0.02)


def judge(tap, s, code):
    done, first, last = s.counters(), minute_of(s.seen, False), minute_of(s.seen, True)
    name = s.name
    if len(s.seen) < 120:  # the table of processes is not filled yet
        tap.case(True, f"{name}: memory is flat # SKIP a run of under two minutes")
    else:
        tap.case(last["anon"] <= first["anon"], f"{name}: memory is flat", f"first {first}, last {last}")
    tap.case(last["fds"] <= first["fds"], f"{name}: descriptors are flat")
    tap.case(last["zombies"] == 0, f"{name}: no zombie stays")
    tap.case(done["failed"] == 0, f"{name}: no call of the workload failed", str(done))
    tap.case(done["raises"] > 0 and done["above"] == 0, f"{name}: no raise went above the ceiling")
    # Standard signals merge while one of them is pending, so fewer may arrive than were sent.
    tap.case(0 < done["signals"] <= s.sent, f"{name}: signals arrived", f"sent {s.sent}")
    tap.case(code == 0, f"{name}: ended as its workload did", f"status {code}")
    s.stderr.seek(0)
    said = [line for line in s.stderr.read().splitlines() if "error" in line or "can't" in line]
    tap.case(not said, f"{name}: nothing went wrong in its own eyes", "; ".join(said[:3]))
    report = dict(line.rsplit(" ", 1) for line in read(s.report).splitlines() if not line.startswith("#"))
    reaped = [int(value) for key, value in report.items() if key.startswith("fdfit_reaped")]
    # The end may come before each worker's last orphan was to be reaped.
    tap.case(bool(reaped) and reaped[0] >= done["orphans"] - WORKERS, f"{name}: all orphans were reaped",
             f"{reaped} of {done['orphans']}")


def judge_peak_file(tap, folder):
    lines = read(f"{folder}/peak").splitlines()
    labels = {line.split()[0]: dict(word.split("=") for word in line.split()[1:]) for line in lines[1:-1]}
    tap.case(lines[0] == "fdfit-peak 1" and lines[-1] == f"end {len(lines) - 2}", "the peak file is whole")
    tap.case({"pid1", "subreaper", "again"} <= set(labels), "each writer has its record", str(labels))
    tap.case(all(int(labels[name]["bound"]) == 256 for name in ("pid1", "subreaper") if name in labels),
             "the peak's class was found")
    left = [name for name in os.listdir(folder) if name.endswith(".new")]
    tap.case(not left, "no half-written file is left", str(left))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fdfit")
    parser.add_argument("churn")
    parser.add_argument("--forks", type=int, default=1000000)
    parser.add_argument("--minutes", type=float, default=5)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="fdfit-soak.")
    tap, supervised = Tap(), []
    try:
        for name, lock, prefix in (("pid1", "clamp", NAMESPACE), ("subreaper", "deny", ())):
            supervised.append(Supervised(name, options.fdfit, options.churn, folder, [f"--lock={lock}"], prefix))
        restarts = Restarts(options.fdfit, folder)
        begin = time.monotonic()
        run(supervised, restarts, options, begin)
        restarts.end()
        seconds = time.monotonic() - begin
        codes = [s.end() for s in supervised]
        total = sum(s.counters()["forks"] for s in supervised)
        tap.case(total >= options.forks, f"{options.forks} forks", f"{total} in {seconds:.0f} s")
        tap.case(restarts.count > 0 and restarts.wrong == 0, "every start beside them ended as it should",
                 f"{restarts.count} starts, {restarts.wrong} wrong")
        for s, code in zip(supervised, codes):
            judge(tap, s, code)
        judge_peak_file(tap, folder)
    finally:
        for s in supervised:
            s.kill()
        shutil.rmtree(folder)
    sys.exit(tap.end())


if __name__ == "__main__":
    main()
