#!/usr/bin/env python3
"""The speed record: one table of every figure beside the peers, best of each row marked. Usage: all.py [--quick] BUILD

BUILD is the folder of the built benchmarks; the release programs are taken from build/release. Each figure is from the
benchmark that measures it (startup.py, peers/footprint.py, measure.py, scan.py), run here one after the other.
"""
import argparse
import glob
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
RELEASE = os.path.join(TOP, "build", "release")

#: Column of the table: the words its start-up row is known by in startup.py, and its Debian source package, if that is it alone.
COLUMNS = {
    "fdfit": ("fdfit -n 1024", None),
    "fdfit --init": ("fdfit --init -n 1024", None),
    "tini": ("tini -s --", "tini"),
    "dumb-init": ("dumb-init --", "dumb-init"),
    "catatonit": ("catatonit --", "catatonit"),
    "prlimit": ("prlimit --nofile=1024:1024", None),
    "s6-softlimit": ("s6-softlimit -o 1024", None),
    "chpst": ("chpst -o 1024", None),
    "lsof": (None, None),
    "lsfd": (None, None),
}


def bench(*argv, env=None):
    """The JSON of one benchmark; what it says on stderr goes on."""
    done = subprocess.run([sys.executable, *argv, "--json"], stdout=subprocess.PIPE, env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"all.py: {os.path.basename(argv[0])} ended with status {done.returncode}")
    return json.loads(done.stdout)


def started(build, runs):
    found = bench(f"{HERE}/startup.py", f"--runs={runs}", f"{RELEASE}/fdfit", f"{build}/tests/bench/startup",
                  f"{build}/tests/bench/noop")
    ratios = {row["prefix"]: row["ratio"] for row in found["prefixes"]}
    return [("start, times a direct one", ".2f",
             {name: ratios[words] for name, (words, _) in COLUMNS.items() if words in ratios})]


def idle_and_busy(build, rounds):
    env = dict(os.environ, FDFIT=f"{RELEASE}/fdfit", FDFIT_TEST_HELPERS=f"{build}/tests/cli/helpers")
    found = bench(f"{HERE}/peers/footprint.py", f"--rounds={rounds}", env=env)
    found["fdfit --init"] = found.pop("fdfit")

    def row(key):
        return {name: figures[key] for name, figures in found.items()}

    def ratio(key):
        return {name: value / row(key)["fdfit --init"] for name, value in row(key).items()}

    return [("idle, RSS KiB", ".0f", row("rss")), ("idle, PSS KiB", ".0f", row("pss")),
            ("10,000 orphans, times fdfit", ".2f", ratio("reap")),
            ("the same, its own CPU", ".2f", ratio("reap_cpu")),
            ("10,000 signals, times fdfit", ".2f", ratio("forward")),
            ("the same, its own CPU", ".2f", ratio("forward_cpu"))]


def sampled(build, rounds):
    found = bench(f"{HERE}/measure.py", f"--rounds={rounds}", f"{build}/tests/bench/measure")
    size = next(size for size in found["sizes"] if size["processes"] == 1000)
    figures = {"fdfit --init": size["us"]["sample"] / 1000}
    if "lsof" in size["us"]:
        figures["lsof"] = size["us"]["lsof"] / 1000
    return [("a look at 1,000 processes, ms", ".1f", figures)]


def program_sizes():
    paths = {"fdfit": f"{RELEASE}/fdfit", "fdfit --init": f"{RELEASE}/fdfit"}
    paths.update({name: shutil.which(name) for name in COLUMNS if name not in paths})
    return [("program, bytes (+: and libraries)", "size",
             {name: (os.path.getsize(os.path.realpath(path)), loads(path)) for name, path in paths.items() if path})]


def loads(path):
    done = subprocess.run(["readelf", "-dW", path], stdout=subprocess.PIPE, text=True, check=False)
    return "(NEEDED)" in done.stdout


def lines_of(text):
    """Lines of C that are neither blank nor comment."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", "", m[0]), text, flags=re.S)
    return sum(1 for line in text.splitlines() if line.strip())


def own_lines():
    total = 0
    for layer in ("base", "policy", "measure", "launcher"):
        for path in glob.glob(f"{TOP}/src/{layer}/**/*.[ch]", recursive=True):
            with open(path, encoding="utf-8") as file:
                total += lines_of(file.read())
    return total


def apt_sources(folder):
    """Options that let apt-get fetch the sources of what is installed, from the same place, without a change here."""
    parts = os.path.join(folder, "parts")
    os.makedirs(parts)
    os.makedirs(os.path.join(folder, "lists", "partial"))
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.list"),
                 *glob.glob("/etc/apt/sources.list.d/*.sources")]:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"^(Types:.*|)deb\b", r"\1deb-src", file.read(), flags=re.M)
            with open(os.path.join(parts, os.path.basename(path)), "w", encoding="utf-8") as file:
                file.write(text)
    return ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={parts}",
            "-o", f"Dir::State::lists={folder}/lists", "-o", "APT::Sandbox::User=root", "-qq"]


def peer_lines(package, folder, options):
    """Lines of C in a Debian source package, its tests left out; None where it can't be had."""
    target = os.path.join(folder, package)
    os.makedirs(target)
    subprocess.run(["apt-get", *options, "source", "--download-only", package], cwd=target, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for archive in glob.glob(f"{target}/*.orig.tar.*"):
        with tarfile.open(archive) as tar:
            files = [m for m in tar if m.isfile() and re.search(r"\.[ch]$", m.name) and "/test" not in m.name]
            return sum(lines_of(tar.extractfile(m).read().decode("utf-8", "replace")) for m in files)
    return None


def code_lines():
    found = {"fdfit": own_lines()}
    found["fdfit --init"] = found["fdfit"]
    with tempfile.TemporaryDirectory(prefix="fdfit-sources.") as folder:
        options = apt_sources(folder)
        subprocess.run(["apt-get", *options, "update"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name, (_, package) in COLUMNS.items():
            lines = peer_lines(package, folder, options) if package else None
            if lines:
                found[name] = lines
    return [("lines of C", "d", found)]


def shown(form, value):
    if value is None:
        return ""
    if form == "size":
        return f"{value[0]}{'+' if value[1] else ''}"
    return format(value, form)


def print_table(rows):
    """In the form of README's tables; the least of each row is bold."""
    present = [name for name in COLUMNS if any(name in figures for _, _, figures in rows)]
    print("| | " + " | ".join(present) + " |")
    print("|---" * (len(present) + 1) + "|")
    for title, form, figures in rows:
        least = min(shown_least(form, value) for value in figures.values())
        cells = [f"**{shown(form, figures[name])}**" if name in figures and shown_least(form, figures[name]) == least
                 else shown(form, figures.get(name)) for name in present]
        print(f"| {title} | " + " | ".join(cells) + " |")


def shown_least(form, value):
    """What a row is compared by: what a reader sees of it."""
    return value[0] if form == "size" else float(format(value, form))


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"^model name\s*: (.*)", file.read(), re.M)
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it works, not what it costs")
    parser.add_argument("build", help="the folder of the built benchmarks")
    options = parser.parse_args()
    build, quick = os.path.abspath(options.build), options.quick
    rows = [
        *started(build, 50 if quick else 2000),
        *idle_and_busy(build, 1 if quick else 3),
        *sampled(build, 10 if quick else 100),
        *program_sizes(),
        *code_lines(),
    ]
    print(f"Measured on {machine()}, by contrib/dev bench all:")
    print()
    print_table(rows)


if __name__ == "__main__":
    main()
