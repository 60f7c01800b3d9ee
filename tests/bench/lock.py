#!/usr/bin/env python3
"""What the lock costs: lock.py [--runs N] FDFIT STARTUP NOOP LOCK

An unrelated system call and a call that sets nofile, seen from inside the workload (lock.c), and the start of a program
that does nothing (startup.c), without a lock and with one, in turn in one run. Compare within the run only.
"""
import argparse
import json
import subprocess
import sys

from report import die, need_program, table
from startup import measure

LIMIT = ["-n", "1024:4096"]
#: Calls and settings of a limit in each part that lock.c times.
CALLS, SETS = "1000", "20"


def inside(words, lock):
    """(ns of an unrelated call, µs of one that sets nofile) below a prefix."""
    done = subprocess.run([*words, *lock, CALLS, SETS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        die(f"no result: {' '.join(words)} ended with status {done.returncode}: {done.stderr.strip()}")
    call, set_ = done.stdout.split()
    return float(call), float(set_)


def main():
    parser = argparse.ArgumentParser(description="What the lock costs.")
    parser.add_argument("--runs", type=int, default=15, help="runs of each mode (default %(default)s)")
    parser.add_argument("--starts", type=int, default=1000, help="starts of each prefix (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    for name, what in (("fdfit", "the launcher"), ("startup", "the built startup.c"), ("noop", "the built noop.c"),
                       ("lock", "the built lock.c")):
        parser.add_argument(name, help=what)
    arguments = parser.parse_args()
    fdfit, startup, noop, lock = (need_program(getattr(arguments, name), name)
                                  for name in ("fdfit", "startup", "noop", "lock"))

    quiet = [fdfit, "-q", *LIMIT]
    modes = [("no", [*quiet, "--"]), ("deny", [*quiet, "--lock=deny", "--"]),
             ("pretend", [*quiet, "--lock=pretend", "--"]), ("clamp", [*quiet, "--init", "--lock=clamp", "--"])]
    least = "no, but a filter that lets all pass"
    found = {name: [] for name in (modes[0][0], least, *(name for name, _ in modes[1:]))}
    for _ in range(arguments.runs):
        found[least].append(inside(quiet, [lock, "-f"]))
        for name, words in modes:
            found[name].append(inside(words, [lock]))
    calls = [{"lock": name, "call_ns": min(call for call, _ in pairs),
              "set_us": min(set_ for _, set_ in pairs)} for name, pairs in found.items()]
    for row in calls:
        row["more_ns"] = round(row["call_ns"] - calls[0]["call_ns"], 1)

    prefixes = [(f"fdfit, lock = {name}", words) for name, words in modes[:3]]
    medians = measure(startup, noop, prefixes, arguments.starts)
    starts = [{"prefix": name, "median_us": median, "ratio": round(median / medians[0][1], 3)}
              for name, median in medians]
    if arguments.json:
        json.dump({"calls": calls, "starts": starts}, sys.stdout, indent=2)
        print()
        return
    print(f"Inside the workload, the least of {arguments.runs} runs:")
    print(table(["lock", "unrelated call, ns", "more, ns", "call that sets nofile, µs"],
                [[row["lock"], f"{row['call_ns']:.1f}", f"{row['more_ns']:+.1f}", f"{row['set_us']:.2f}"]
                 for row in calls]))
    print(f"\nStart of a static program that does nothing, {arguments.starts} interleaved runs of each, medians:")
    print(table(["prefix", "µs", "ratio"],
                [[row["prefix"], f"{row['median_us']:.1f}", f"{row['ratio']:.2f}"] for row in starts]))


if __name__ == "__main__":
    main()
