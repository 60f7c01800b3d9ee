#!/usr/bin/env python3
"""The fault and the cure in one run: demo.py [--runs N] [--json] FDFIT VICTIM NOOP

The real thing where there is a Python 2 (PYTHON2, PATH, pyenv): its subprocess.Popen(close_fds=True) of
true(1), timed inside it, in turn with close_fds=False, which has no close loop and is the floor. Otherwise
the bundled victim, which does the same in C. Each is run under the hard limit of this session, as a
container has it from its engine (a plain shell has a soft limit of 1024, so it is raised first), under
`fdfit -n 1024`, and under a policy with a measured peak.
Status: 0; 1 when something could not be run; 77 (skipped, to meson) when the hard limit is too low for the
fault.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "cli"))
from report import die, need_program, table  # noqa: E402
import support  # noqa: E402

CURED = 1024  # the soft limit of a plain login, which every program gets along with
COMMANDS = 250  # the field's example: a task that starts some 250 commands
SLICES = 5  # the limits take turns, so that a slow moment of the machine does not fall on one of them alone
SECONDS = 2  # for each slice: the whole stays below half a minute at a limit of 1048576 too
PATIENCE = 60  # for a slice that hangs
SKIPPED = 77
POLICY = "soft = peak\npeak = 127\nheadroom = 50%\n"


def raise_limit():
    """Set this process's soft limit to the most that can be had; (soft before, the new limit)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        with open("/proc/sys/fs/nr_open", encoding="ascii") as file:
            most = int(file.read())
        # A hard limit above fs.nr_open, or none, is refused in any setrlimit call until it is brought down.
        limit = most if hard == resource.RLIM_INFINITY else min(hard, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    except (OSError, ValueError) as error:
        die(f"cannot raise the soft nofile limit {soft} to the hard one: {error}; try ulimit -n in the shell")
    return soft, limit


def choose_workload(victim, noop, runs):
    """(what it is, for people; argv; parser of its output) of the program that suffers, run for one slice."""
    command = shutil.which("true") or noop
    try:
        python = support.python2()
    except unittest.SkipTest as reason:
        what = f"the bundled victim, which does as Python 2 does ({reason}), starting {command}"
        argv = [victim, "--interleave", "--commands", str(runs), "--seconds", str(SECONDS), "--", command]
        return what, argv, parse_victim
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python2_popen.py")
    # -E: a PYTHONHOME or PYTHONPATH that is meant for a Python 3 would break it.
    argv = [python, "-E", script, str(runs), str(SECONDS), command]
    return f"Popen(close_fds=True) of {python}, starting {command}", argv, json.loads


def parse_victim(text):
    """The fields of the victim's line as python2_popen.py names them."""
    fields = dict(field.split("=") for field in text.split())
    return {"limit": int(fields["max"]), "runs": int(fields["commands"]),
            "close_us": float(fields["close_us"]), "keep_us": float(fields["keep_us"])}


def last_line(text):
    """The last line of a program's stderr that says something, for an error line of ours."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"


def run_slice(name, prefix, argv, parse):
    """Run the workload once behind a prefix; its figures, and the message of the prefix."""
    try:
        done = support.run(*prefix, *argv, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        die(f"{name}: no result after {PATIENCE} s; try fewer --runs")
    except OSError as error:
        die(f"{name}: cannot start {(prefix or argv)[0]}: {error.strerror}")
    if done.returncode != 0:
        die(f"{name}: ended with status {done.returncode}: {last_line(done.stderr)}")
    return {**parse(done.stdout), "message": done.stderr.strip()}


def make_row(name, slices, is_right):
    """The row of one prefix from its slices, each of which must have seen the limit that it was to have."""
    for each in slices:
        if not is_right(each["limit"]):
            die(f"{name}: the workload saw a limit of {each['limit']}; {each['message'] or 'no message'}")
    close_us, keep_us = (statistics.median(each[key] for each in slices) for key in ("close_us", "keep_us"))
    return {"prefix": name, "limit": slices[0]["limit"], "runs": sum(each["runs"] for each in slices),
            "close_us": close_us, "keep_us": keep_us, "ratio": close_us / keep_us,
            "seconds": close_us * COMMANDS / 1e6, "message": slices[0]["message"]}


def measure(fdfit, workload, parse, slices, inherited):
    """The rows: without fdfit, and under it in two ways."""
    with tempfile.TemporaryDirectory(prefix="fdfit-demo.") as folder:
        policy = os.path.join(folder, "demo.conf")
        with open(policy, "w", encoding="ascii") as file:
            file.write(POLICY)
        os.chmod(policy, 0o644)  # a policy that others may write is refused, whatever the umask here
        ways = [
            ("none", [], lambda limit: limit == inherited),
            (f"fdfit -n {CURED}", [fdfit, "-n", str(CURED)], lambda limit: limit == CURED),
            ("fdfit -p, peak 127 + 50%", [fdfit, "-p", policy], lambda limit: 127 <= limit < inherited),
        ]
        turns = [[run_slice(name, prefix, workload, parse) for name, prefix, _ in ways]
                 for _ in range(slices)]
    return [make_row(name, results, is_right) for (name, _, is_right), results in zip(ways, zip(*turns))]


def conclude(rows):
    """One sentence, from the figures, whatever they are."""
    bare, *cured = rows
    ways = " and ".join(f"{row['ratio']:.2f} times under `{row['prefix']}`" for row in cured)
    if min(row["ratio"] for row in cured) >= bare["ratio"]:
        return f"No gain in this run: {bare['ratio']:.2f} times the floor at {bare['limit']}, and {ways}."
    times = " and ".join(f"{row['seconds']:.2f}" for row in cured)
    return (f"At a limit of {bare['limit']} a command costs {bare['ratio']:.2f} times what it costs without "
            f"the close loop, but {ways}: {COMMANDS} commands take {times} s instead of "
            f"{bare['seconds']:.2f} s.")


def print_report(what, soft, rows, conclusion):
    raised = f" (raised from {soft} to the hard limit)" if soft != rows[0]["limit"] else ""
    print(f"Workload: {what}")
    print(f"Limit without fdfit: {rows[0]['limit']}{raised}.")
    print("Floor: no close loop, in turn in the same process.\n")
    print(table(
        ["prefix", "limit", "runs", "µs a command", "µs floor", "ratio", f"{COMMANDS} commands"],
        [[row["prefix"], row["limit"], row["runs"], f"{row['close_us']:.0f}", f"{row['keep_us']:.0f}",
          f"{row['ratio']:.2f}", f"{row['seconds']:.2f} s"] for row in rows]))
    print()
    for row in rows:
        if row["message"]:
            print(row["message"])
    print(conclusion)


def main():
    parser = argparse.ArgumentParser(description="What a high descriptor limit costs, and under fdfit.")
    parser.add_argument("--runs", type=int, default=200,
                        help="commands of each kind and limit (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("fdfit", help="the launcher")
    parser.add_argument("victim", help="the built victim.c")
    parser.add_argument("noop", help="the built noop.c")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        die(f"--runs {arguments.runs}: at least 1 is needed")
    fdfit, victim, noop = (need_program(getattr(arguments, name), name)
                           for name in ("fdfit", "victim", "noop"))

    soft, limit = raise_limit()
    if limit <= CURED:
        print(f"The hard nofile limit here is {limit}: the fault needs one well above {CURED}, so it can't "
              "be shown. Start the demo where `ulimit -Hn` is higher.", file=sys.stderr)
        sys.exit(SKIPPED)
    slices = min(SLICES, arguments.runs)
    what, workload, parse = choose_workload(victim, noop, -(-arguments.runs // slices))
    rows = measure(fdfit, workload, parse, slices, limit)
    conclusion = conclude(rows)
    if arguments.json:
        result = {"workload": what, "soft_before": soft, "rows": rows, "conclusion": conclusion}
        json.dump(result, sys.stdout, indent=2)
        print()
    else:
        print_report(what, soft, rows, conclusion)


if __name__ == "__main__":
    main()
