#!/usr/bin/env python3
"""What a prefix costs before a command that does nothing: startup.py [--runs N] [--json] FDFIT STARTUP NOOP

Chooses the prefixes: fdfit in four forms, and of its peers those that are installed (the others are
named). The timing itself is startup.c's. Direct execution is 1; compare ratios, never times of different
runs or machines.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from report import die, need_program, table

#: Prefixes of other projects, and the Debian package that each is in.
PEERS = [
    (["tini", "-s", "--"], "tini"),
    (["dumb-init", "--"], "dumb-init"),
    (["catatonit", "--"], "catatonit"),
    (["prlimit", "--nofile=1024:1024"], "util-linux"),
    (["s6-softlimit", "-o", "1024"], "s6"),
    (["chpst", "-o", "1024"], "runit"),
]

PEAK = """\
fdfit-peak 1
default need=127 bound=128 observed=100000 samples=100000 by=python2.7
end 1
"""


def write_policy(folder):
    """A policy that takes its limit from a recorded peak, in `folder`; its path."""
    peak, policy = os.path.join(folder, "peak"), os.path.join(folder, "policy.conf")
    for path, text in ((peak, PEAK), (policy, f"soft = peak\npeak-file = {peak}\nfallback = 1024\n")):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, 0o644)  # a policy that others may write is refused, whatever the umask here
    return policy


def choose(fdfit, policy):
    """(name, words) of each prefix to measure, and "program (package)" of each peer that is not installed."""
    chosen = [
        ("fdfit -q -n 1024 --", [fdfit, "-q", "-n", "1024", "--"]),
        ("fdfit -n 1024", [fdfit, "-n", "1024"]),
        ("fdfit -p POLICY (soft = peak)", [fdfit, "-p", policy]),
        ("fdfit --init -n 1024", [fdfit, "--init", "-n", "1024", "--"]),
    ]
    absent = []
    for words, package in PEERS:
        path = shutil.which(words[0])
        if path:
            chosen.append((" ".join(words), [path, *words[1:]]))
        else:
            absent.append(f"{words[0]} ({package})")
    return chosen, absent


def measure(startup, noop, prefixes, runs):
    """Run startup.c; [(name, median in microseconds)], direct execution first."""
    argv = [startup, "--rounds", str(runs), noop]
    for name, words in prefixes:
        argv += ["::", name, *words]
    # FDFIT_ variables would be read by fdfit as settings of this bench.
    env = {name: value for name, value in os.environ.items() if not name.startswith("FDFIT_")}
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)  # the prefix's reason, then startup's line that names the prefix
        die(f"no result: {startup} ended with status {done.returncode}")
    return [(name, float(median)) for name, median in (line.split("\t") for line in done.stdout.splitlines())]


def main():
    parser = argparse.ArgumentParser(description="What each prefix costs before a command that does nothing.")
    parser.add_argument("--runs", type=int, default=2000, help="runs of each prefix (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("fdfit", help="the launcher")
    parser.add_argument("startup", help="the built startup.c")
    parser.add_argument("noop", help="the built noop.c")
    arguments = parser.parse_args()
    fdfit, startup, noop = (need_program(getattr(arguments, name), name)
                            for name in ("fdfit", "startup", "noop"))

    with tempfile.TemporaryDirectory(prefix="fdfit-bench.") as folder:
        prefixes, absent = choose(fdfit, write_policy(folder))
        medians = measure(startup, noop, prefixes, arguments.runs)
    direct = medians[0][1]
    rows = [{"prefix": name, "median_us": median, "ratio": round(median / direct, 3)}
            for name, median in medians]
    if arguments.json:
        json.dump({"runs": arguments.runs, "prefixes": rows, "absent": absent}, sys.stdout, indent=2)
        print()
        return
    print(f"Start of a static program that does nothing, {arguments.runs} interleaved runs of each, medians:")
    print(table(["prefix", "µs", "ratio"],
                [[row["prefix"], f"{row['median_us']:.1f}", f"{row['ratio']:.2f}"] for row in rows]))
    if absent:
        print(f"Not installed here: {', '.join(absent)}")


if __name__ == "__main__":
    main()
