"""fdfitctl: its frame, measure on real processes, suggest in every format, and the way through both to a limit."""
import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import unittest

import support
import tap

CTL = os.environ.get("FDFITCTL", "")
COMMANDS = ("measure", "suggest")
FORMATS = ("policy", "systemd", "docker", "compose", "podman", "oci", "kubernetes", "prlimit")

#: A process that does what it is told, a line a time, and answers each with "done". Words: low N (open the numbers
#: below N), at N (open descriptor N), burst N (open N at once and close them), fork N (a child with descriptor N),
#: name COMM.
PUPPET = r"""
import os, signal, sys
null = os.open("/dev/null", os.O_RDONLY)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print("ready", flush=True)
for line in sys.stdin:
    word, value = (line.split() + ["0"])[:2]
    number = 0 if word == "name" else int(value)
    if word == "low":
        while os.dup(null) < number - 1:
            pass
    elif word == "at":
        os.dup2(null, number)
    elif word == "burst":
        opened = [os.dup(null) for _ in range(number)]
        for fd in opened:
            os.close(fd)
    elif word == "name":
        with open("/proc/self/comm", "w") as comm:
            comm.write(value)
    elif word == "fork":
        r, w = os.pipe()
        if os.fork() == 0:
            os.dup2(null, number)
            os.write(w, b".")
            os.read(0, 1)
            os._exit(0)
        os.read(r, 1)
        os.close(r)
        os.close(w)
    print("done", flush=True)
"""

WORKLOAD = """
import sys
opened = [open("/dev/null") for _ in range(int(sys.argv[1]))]
print(len(opened))
"""


def need_ctl():
    if not CTL:
        raise unittest.SkipTest("fdfitctl is not built here (libsmartcols, jansson)")


def ctl(*arguments, **more):
    return support.run(CTL, *map(str, arguments), **more)


def highest(pid):
    """The need by a plain listing: highest descriptor number + 1."""
    return max(map(int, os.listdir(f"/proc/{pid}/fd"))) + 1


def fdsize(pid):
    """The size of its descriptor table, which a child begins with as its parent's was."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return int(re.search(r"^FDSize:\s+(\d+)", file.read(), re.M)[1])


class Puppet:
    """A process with just the standard descriptors that opens what it is told to."""

    def __init__(self, case, limit=20000, python=sys.executable, **more):
        # close_fds leaves 0, 1 and 2, so its own numbers begin at 3
        self.process = subprocess.Popen(
            [python, "-c", PUPPET], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, close_fds=True,
            preexec_fn=support.nofile(limit), **more)
        case.addCleanup(self.end)
        self.pid = self.process.pid
        self.expect("ready")

    def expect(self, word):
        line = self.process.stdout.readline().strip()
        if line != word:
            raise AssertionError(f"the puppet said {line!r}, not {word!r}")

    def do(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        self.expect("done")

    def end(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.wait(timeout=support.PATIENCE)
        self.process.stdout.close()


class Terminal:
    """fdfitctl on a terminal of its own, which is the one that Ctrl-C comes from.

    It is not the session's leader: when that ends, the kernel hangs the terminal up, and what was not read by then may
    be thrown away. The leader stays behind, and writes how fdfitctl ended behind its last output.
    """

    END = re.compile(rb"<ended (-?\d+)>")

    def __init__(self, case, *arguments, env=None):
        ours, theirs = os.pipe()
        self.leader, self.master = pty.fork()
        if self.leader == 0:
            try:
                self.lead(theirs, [CTL, *map(str, arguments)], env or support.clean_env(TERM="xterm"))
            finally:
                os._exit(99)
        os.close(theirs)
        with os.fdopen(ours) as pipe:
            self.pid = int(pipe.readline())
        self.seen = b""
        case.addCleanup(self.close)

    @staticmethod
    def lead(pipe, argv, env):
        pid = os.fork()
        if pid == 0:
            os.execve(argv[0], argv, env)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(pipe, b"%d\n" % pid)
        os.close(pipe)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(1, b"<ended %d>" % code)
        while True:
            signal.pause()

    def read_until(self, pattern):
        """Read what appears on the terminal until it matches; the program's end is a failure."""
        while not re.search(pattern, self.text()):
            if self.END.search(self.seen) or not self.read_some():
                raise AssertionError(f"no {pattern!r} on the terminal: {self.text()!r}")

    def read_some(self):
        try:
            data = os.read(self.master, 4096)
        except OSError:  # EIO: nobody has the terminal open any more
            return False
        self.seen += data
        return bool(data)

    def text(self):
        return self.END.sub(b"", self.seen).decode("utf-8", "replace")

    def write(self, data):
        os.write(self.master, data)

    def end(self):
        """Everything to its end; the exit status."""
        while not self.END.search(self.seen):
            if not self.read_some():
                raise AssertionError(f"the terminal ended first: {self.text()!r}")
        return int(self.END.search(self.seen)[1])

    def close(self):
        os.kill(self.leader, signal.SIGKILL)
        os.waitpid(self.leader, 0)
        os.close(self.master)


class CtlCase(support.Case):
    def setUp(self):
        need_ctl()
        super().setUp()

    def json(self, *arguments, code=0):
        done = ctl(*arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)

    def fails(self, code, pattern, *arguments, **more):
        """It ends with that code, one line on stderr that matches, and nothing on stdout."""
        done = ctl(*arguments, **more)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Afdfitctl: [^\n]*\n\Z")
        self.assertRegex(done.stderr, pattern)


class Frame(CtlCase):
    def test_help_lists_the_commands(self):
        for words in (("help",), ("--help",), ("-h",)):
            done = ctl(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(tuple(re.findall(r"^  ([a-z]+) ", done.stdout, re.M)), COMMANDS)

    def test_each_command_has_its_help(self):
        for name in COMMANDS:
            texts = {ctl(*words).stdout for words in ((name, "--help"), (name, "-h"), ("help", name))}
            self.assertEqual(len(texts), 1)
            self.assertTrue(texts.pop().startswith(f"usage: fdfitctl {name} "))

    def test_version(self):
        launcher = support.run(support.FDFIT, "--version").stdout
        self.assertEqual(ctl("--version").stdout, launcher.replace("fdfit", "fdfitctl"))

    def test_wrong_usage(self):
        for pattern, words in (
                ("no command given", []), ("command 'mesure' is not known", ["mesure"]),
                ("option '--json' is not known", ["--json"]), (r"'\\x1b\[2J' is not known", ["\x1b[2J"]),
                ("'nosuch' is not known", ["help", "nosuch"]), ("nothing to measure", ["measure"]),
                ("exclude each other", ["measure", "1", "--name=x"]),
                ("'--nosuch' is not known", ["measure", "--nosuch=3"]),
                ("'-q' is not known", ["measure", "-q"]), ("'--for' needs a value", ["measure", "1", "--for"]),
                ("'-f' needs a value", ["measure", "1", "-f"]), ("'--tree' takes no value", ["measure", "--tree=1"]),
                ("--for: '1y' is not a time", ["measure", "--for=1y", "1"]),
                ("--interval: '10ms' is too short; the least is 100ms", ["measure", "--interval=10ms", "1"]),
                ("--label names a line", ["measure", "--label=x", "1"]),
                ("--label: 'a b' is no label", ["measure", "--label=a b"]),
                ("'0x1' is not a pid", ["measure", "0x1"]), ("'0' is not a pid", ["measure", "0"]),
                ("'-1' is not known", ["measure", "-1"]), ("'-1' is not a pid", ["measure", "--", "-1"]),
                ("more than 64 pids", ["measure", *["1"] * 65]),
                ("nothing to suggest by", ["suggest"]), ("exclude each other", ["suggest", "--peak-file=f", "1"]),
                ("--format: 'yaml' is not known; write one of " + ", ".join(FORMATS), ["suggest", "-f", "yaml", "1"]),
                ("--headroom: '50' is not", ["suggest", "--headroom=50", "1"]),
                ("--floor: '-3' is not a number", ["suggest", "--floor=-3", "1"]),
                ("floor 512 is above the ceiling 100", ["suggest", "--floor=512", "--ceiling=100", os.getpid()])):
            with self.subTest(words=words):
                self.fails(2, pattern, *words)

    def test_what_can_not_be_read(self):
        with subprocess.Popen(["true"]) as zombie:
            os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
            self.fails(3, "has ended, and waits to be reaped", "measure", zombie.pid)
        self.fails(3, f"pid {zombie.pid}: there is no such process", "measure", zombie.pid)
        self.fails(3, "there are no processes named 'nosuch'", "measure", "--name=nosuch")
        self.fails(3, "cgroup '/no/such' can't be read: no such file", "measure", "--cgroup=/no/such")
        self.fails(3, "peak file /no/such/file can't be written: its folder", "measure", "--peak-file=/no/such/file",
                   os.getpid())
        self.fails(3, "peak file .*/none does not exist", "suggest", "--peak-file", self.path("none"))
        foreign = self.write("foreign", "something else\n")
        self.fails(3, "peak file .*/foreign is not a peak file", "suggest", "--peak-file", foreign)
        self.fails(3, "peak file .*/foreign is not a peak file", "measure", "--for=1h", "--peak-file", foreign,
                   os.getpid())
        empty = self.write("empty", "fdfit-peak 1\nend 0\n")
        self.fails(3, "holds no record yet", "suggest", "--peak-file", empty)

    def test_an_output_that_takes_nothing_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for words in (("--help",), ("measure", "--for=1ms", os.getpid()), ("suggest", os.getpid(), "--json")):
                done = ctl(*words, stdout=full)
                self.assertEqual(done.returncode, 3, words)
                self.assertIn("can't write to stdout: no space left", done.stderr)


class Measure(CtlCase):
    def measure(self, puppet, *more, code=0):
        return self.json("measure", "--for=1ms", puppet.pid, *more, code=code)

    def test_sparse_descriptors(self):
        puppet = Puppet(self)
        puppet.do("low", 15)
        puppet.do("at", 18999)
        self.assertEqual(len(os.listdir(f"/proc/{puppet.pid}/fd")), 16)
        found = self.measure(puppet)
        self.assertEqual((found["peak"], found["bound"], found["exact"]), (19000, 32768, True))
        self.assertEqual(found["peak"], highest(puppet.pid))
        self.assertEqual(found["process"][0]["open"], 16)
        self.assertEqual((found["processes"], found["seen"], found["at_limit"]), (1, 1, 0))
        self.assertEqual(found["by"]["pid"], puppet.pid)
        self.assertEqual(found["ended_by"], "time")

    def test_the_fields_of_json_are_stable(self):
        found = self.measure(Puppet(self))
        self.assertEqual(list(found), [
            "peak", "exact", "bound", "current", "processes", "seen", "samples", "span_ms", "interval_ms", "at_limit",
            "untracked", "ended_by", "by", "process"])
        self.assertEqual(list(found["by"]), ["pid", "command", "argv0"])
        self.assertEqual(list(found["process"][0]), [
            "pid", "parent", "command", "need", "open", "fdsize", "soft", "hard", "at_limit"])

    def test_the_table_has_the_numbers(self):
        puppet = Puppet(self)
        puppet.do("at", 99)
        done = ctl("measure", "--for=1ms", puppet.pid)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        peak, process = (block.splitlines() for block in done.stdout.split("\n\n"))
        self.assertEqual(peak[0].split(), "PEAK BOUND CURRENT PROCESSES SEEN SAMPLES TIME AT-LIMIT BY".split())
        self.assertEqual(peak[1].split()[:5], ["100", str(fdsize(puppet.pid)), "100", "1", "1"])
        self.assertEqual(process[0].split(), "COMMAND PID NEED OPEN FDSIZE SOFT HARD".split())
        size = str(fdsize(puppet.pid))
        self.assertEqual(process[1].split()[1:], [str(puppet.pid), "100", "5", size, "20000", "20000"])

    def test_a_tree_has_its_descendants(self):
        puppet = Puppet(self)
        puppet.do("fork", 500)
        alone, tree = self.measure(puppet), self.measure(puppet, "--tree")
        self.assertLess(alone["peak"], 65)
        self.assertEqual((tree["peak"], tree["processes"]), (501, 2))
        child = next(p for p in tree["process"] if p["pid"] != puppet.pid)
        self.assertEqual((child["parent"], child["need"]), (puppet.pid, 501))
        self.assertEqual(tree["by"]["pid"], child["pid"])
        drawn = ctl("measure", "--for=1ms", "--tree", puppet.pid, env=support.clean_env(LC_ALL="C")).stdout
        self.assertRegex(drawn, r"(?m)^`-\S+ +%d +501 " % child["pid"])

    def test_several_pids(self):
        one, two = Puppet(self), Puppet(self)
        two.do("at", 300)
        found = self.json("measure", "--for=1ms", one.pid, two.pid, one.pid)
        self.assertEqual((found["processes"], found["peak"]), (2, 301))

    def test_by_name(self):
        puppet, other = Puppet(self), Puppet(self)
        puppet.do("name", "fdfit-pet")
        puppet.do("at", 77)
        other.do("at", 400)
        found = self.json("measure", "--for=1ms", "--name=fdfit-pet")
        self.assertEqual((found["peak"], found["processes"], found["process"][0]["command"]), (78, 1, "fdfit-pet"))

    def test_by_cgroup_with_those_below(self):
        for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified"):
            if os.access(os.path.join(mount, "cgroup.procs"), os.W_OK):
                break
        else:
            raise unittest.SkipTest("no cgroup can be made here")
        name = f"/fdfit-test-{os.getpid()}"
        group = mount + name
        try:
            os.makedirs(group + "/below")
        except OSError as error:
            raise unittest.SkipTest(f"no cgroup can be made here: {error.strerror}")
        self.addCleanup(os.rmdir, group)
        self.addCleanup(os.rmdir, group + "/below")
        inside, below = Puppet(self), Puppet(self)
        for puppet, folder in ((inside, group), (below, group + "/below")):
            with open(folder + "/cgroup.procs", "w", encoding="ascii") as procs:
                procs.write(str(puppet.pid))
        below.do("at", 200)
        for path in (group, name):
            found = self.json("measure", "--for=1ms", "--cgroup", path)
            self.assertEqual((found["peak"], found["processes"]), (201, 2))
        inside.end()
        below.end()

    def test_ends_when_the_process_ends(self):
        puppet = Puppet(self)
        puppet.do("at", 99)
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        running = subprocess.Popen([CTL, "measure", "--json", "--interval=1h", str(puppet.pid)], text=True,
                                   stdout=subprocess.PIPE, stderr=theirs, env=support.clean_env())
        os.close(theirs)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        seen = ""
        while "peak 100  current 100  processes 1" not in seen:
            seen += os.read(ours, 4096).decode()
        puppet.end()
        out, _ = running.communicate(timeout=support.PATIENCE)
        self.assertEqual(running.returncode, 0)
        found = json.loads(out)
        self.assertEqual((found["ended_by"], found["peak"], found["process"]), ("processes", 100, []))

    def test_at_the_limit_is_a_finding(self):
        puppet = Puppet(self, limit=64)
        puppet.do("low", 64)
        done = ctl("measure", "--for=1ms", "--json", puppet.pid)
        self.assertEqual(done.returncode, 1)
        stands = rf"\Afdfitctl: note: .* \(pid {puppet.pid}\) stands at 64 of 64 descriptors: [^\n]*\n\Z"
        self.assertRegex(done.stderr, stands)
        found = json.loads(done.stdout)
        self.assertEqual((found["at_limit"], found["process"][0]["at_limit"]), (1, True))

    def test_another_users_process_has_a_bound_only(self):
        if os.geteuid() != 0:
            raise unittest.SkipTest("needs root, to become another user")
        if support.run(CTL, "--version", user=65534, group=65534, extra_groups=[]).returncode != 0:
            raise unittest.SkipTest("the build folder is closed to other users")
        puppet = Puppet(self)
        puppet.do("at", 299)
        other = {"user": 65534, "group": 65534, "extra_groups": []}
        done = ctl("measure", "--for=1ms", "--json", puppet.pid, **other)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        self.assertEqual((found["exact"], found["peak"], found["bound"], found["current"]), (False, 512, 512, None))
        self.assertIsNone(found["process"][0]["need"])
        said = ctl("measure", "--for=1ms", puppet.pid, **other)
        self.assertIn("may not be read (another user's); only the bound is known, and 512 is taken", said.stderr)
        self.assertEqual(said.stdout.splitlines()[1].split()[:3], ["?", "512", "?"])
        suggested = ctl("suggest", puppet.pid, "--json", **other)
        self.assertEqual((json.loads(suggested.stdout)["need"], json.loads(suggested.stdout)["exact"]), (512, False))

    def test_the_name_of_a_process_does_not_reach_the_terminal(self):
        puppet = Puppet(self)
        puppet.do("name", "\x1b[31m")
        for more in ([], ["--json"]):
            done = ctl("measure", "--for=1ms", puppet.pid, *more)
            self.assertNotIn("\x1b", done.stdout + done.stderr)
            self.assertIn("x1b[31m", done.stdout)

    def test_measures_with_many_descriptors_closed_again(self):
        puppet = Puppet(self)
        puppet.do("burst", 1000)
        found = self.measure(puppet)
        self.assertEqual(found["bound"], fdsize(puppet.pid))
        self.assertGreaterEqual(found["bound"], 1024)
        self.assertEqual((found["peak"], found["current"]), (highest(puppet.pid),) * 2)


class OnATerminal(CtlCase):
    """A live line, and an end by Ctrl-C that keeps what was measured."""

    def setUp(self):
        super().setUp()
        self.puppet = Puppet(self)
        self.file = self.path("peak")

    def start(self, *more, env=None):
        terminal = Terminal(self, "measure", self.puppet.pid, "--interval=1h", *more, env=env)
        terminal.read_until(r"peak \d+  current \d+  processes 1")
        return terminal

    def records(self):
        with open(self.file, encoding="ascii") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "fdfit-peak 1")
        self.assertEqual(lines[-1], f"end {len(lines) - 2}")
        return {line.split()[0]: dict(field.split("=") for field in line.split()[1:]) for line in lines[1:-1]}

    def test_ctrl_c_writes_the_file(self):
        terminal = self.start("--peak-file", self.file, "--label=peak-load")
        self.puppet.do("at", 126)
        terminal.write(b"\x03")
        self.assertEqual(terminal.end(), 0)
        record = self.records()["peak-load"]
        self.assertEqual((record["need"], record["how"]), ("127", "measured"))
        self.assertEqual(int(record["bound"]), fdsize(self.puppet.pid))
        self.assertAlmostEqual(int(record["at"]), time.time(), delta=support.PATIENCE)
        self.assertIn("written to ", terminal.text())

    def test_term_and_hup_end_it_as_well(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            terminal = self.start("--peak-file", self.file, f"--label={number.name}")
            os.kill(terminal.pid, number)
            self.assertEqual(terminal.end(), 0)
            self.assertEqual(self.records()[number.name]["how"], "measured")

    def test_a_burst_between_two_samples_is_bounded(self):
        terminal = self.start("--peak-file", self.file)
        self.puppet.do("burst", 4000)
        terminal.write(b"\x03")
        self.assertEqual(terminal.end(), 0)
        record = self.records()["default"]
        self.assertEqual(record["bound"], "4096")
        self.assertLess(int(record["need"]), 64)
        policy = self.write("policy.conf", ctl("suggest", "--peak-file", self.file).stdout)
        again = support.run(support.FDFIT, "-q", "-p", policy, sys.executable, "-c", WORKLOAD, "4000")
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "4000\n", ""))

    def test_a_later_measurement_never_makes_the_record_smaller(self):
        for number, need in ((300, 301), (0, 301)):
            puppet = Puppet(self)
            if number:
                puppet.do("at", number)
            done = ctl("measure", "--for=1ms", puppet.pid, "--peak-file", self.file)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(int(self.records()["default"]["need"]), need)

    def test_a_finding_is_red_on_a_terminal_unless_no_color(self):
        self.puppet = Puppet(self, limit=64)
        self.puppet.do("low", 64)
        for more, red in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
            terminal = Terminal(self, "measure", "--for=1ms", self.puppet.pid,
                                env=support.clean_env(TERM="xterm", **more))
            self.assertEqual(terminal.end(), 1)
            self.assertEqual("\x1b[31m" in terminal.text(), red, more)

    def test_json_says_where_it_was_written(self):
        found = self.json("measure", "--for=1ms", self.puppet.pid, "--peak-file", self.file)
        self.assertEqual((found["peak_file"], found["label"]), (self.file, "default"))
        self.assertEqual(int(self.records()["default"]["need"]), found["peak"])

    def test_a_peak_file_that_stays_locked_is_said_with_what_was_measured(self):
        with open(self.file + ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.fails(3, r"peak file .*/peak is locked by another writer; .* \(measured: need \d+\)",
                       "measure", "--for=1ms", self.puppet.pid, "--peak-file", self.file)
        self.assertFalse(os.path.exists(self.file))

    def test_no_live_line_without_a_terminal(self):
        done = ctl("measure", "--for=300ms", "--interval=100ms", self.puppet.pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        # A busy machine makes samples dear, and a note says so.
        self.assertEqual([line for line in done.stderr.splitlines() if not line.startswith("fdfitctl: note: ")], [])
        self.assertNotRegex(done.stdout + done.stderr, "[\r\x1b]")


class Suggest(CtlCase):
    """Each format in its own reader, with the same numbers."""

    def setUp(self):
        super().setUp()
        self.puppet = Puppet(self)
        self.puppet.do("at", 399)  # 400, and with the headroom 600

    def suggest(self, *more, code=0):
        done = ctl("suggest", self.puppet.pid, *more)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return done.stdout

    def explain(self, policy):
        path = self.write("policy.conf", policy)
        done = support.run(support.FDFIT, "--explain", "-p", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""), policy)
        was, becomes = re.match(r"nofile (\d+:\d+)(?: -> (\d+:\d+))?", done.stdout).groups()
        return becomes or was, done.stdout

    def test_json(self):
        found = self.json("suggest", self.puppet.pid)
        self.assertEqual(list(found), [
            "soft", "hard", "need", "exact", "counts", "bound", "inherited", "headroom", "floor", "ceiling",
            "reasons", "format", "text"])
        self.assertEqual((found["soft"], found["hard"], found["need"], found["bound"]), (600, 20000, 400, 512))
        self.assertEqual(found["text"], self.suggest())
        self.assertIn("nofile 20000:20000 -> 600:20000 (peak 400 + 50%)", found["reasons"])
        for reason in found["reasons"]:
            self.assertIn(f"# {reason}\n", found["text"])

    def test_policy_decides_as_the_suggestion(self):
        ways = ([], ["--headroom=+200"], ["--headroom=0%"], ["--floor=1000"], ["--ceiling=500"], ["--hard=soft"],
                ["--hard=2000"], ["--floor=700", "--ceiling=700"], ["--hard=inherit", "--ceiling=800"])
        for way in ways:
            with self.subTest(way=way):
                found = self.json("suggest", self.puppet.pid, *way)
                pair, said = self.explain(self.suggest(*way))
                self.assertEqual(pair, f"{found['soft']}:{found['hard']}")
                self.assertIn("peak 400", said)
        self.assertEqual(self.json("suggest", self.puppet.pid, "--headroom=+200")["soft"], 600)
        self.assertEqual(self.json("suggest", self.puppet.pid, "--hard=soft")["hard"], 600)

    def test_policy_keeps_the_bound(self):
        self.puppet.do("burst", 4000)
        for way, soft in (([], 20000), (["--ceiling=3000"], 3000)):
            found = self.json("suggest", self.puppet.pid, *way)
            self.assertEqual(found["soft"], min(soft, found["bound"]))
            self.assertEqual(self.explain(self.suggest(*way))[0], f"{found['soft']}:{found['hard']}")
            self.assertIn(f"# floor {found['soft']}: a table of {found['bound']} was seen", self.suggest(*way))
        self.assertIn(f"floor = {self.json('suggest', self.puppet.pid)['bound']}\n", self.suggest())

    def test_a_peak_at_the_ceiling_is_a_finding(self):
        done = ctl("suggest", self.puppet.pid, "--ceiling=400")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "fdfitctl: note: the peak 400 reaches the ceiling 400: the workload leaks "
                                      "descriptors, or the ceiling is too low\n")
        self.assertIn("ceiling = 400\n", done.stdout)

    def test_of_a_peak_file(self):
        path = self.write("peak", "fdfit-peak 1\n"
                                  "start need=90 bound=128 observed=9 at=1764549000 by=init\n"
                                  "load need=400 bound=512 observed=60 at=1764549100 by=java how=measured\nend 2\n")
        done = ctl("suggest", "--peak-file", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"# by the peak file {path}, label load, observed for 1m\n", done.stdout)
        self.assertIn("need 400: the highest descriptor number in one process + 1, in java on 2025-12-01\n",
                      done.stdout)
        self.assertEqual(self.explain(done.stdout)[0].split(":")[0], "600")

    def test_of_a_tree_and_of_several(self):
        self.puppet.do("fork", 900)
        other = Puppet(self)
        other.do("at", 1499)
        self.assertEqual(self.json("suggest", self.puppet.pid, "--tree")["need"], 901)
        self.assertEqual(self.json("suggest", self.puppet.pid, other.pid)["need"], 1500)
        self.assertIn(f"# by what is open now in pid {self.puppet.pid} and others; ", self.suggest(str(other.pid)))

    def test_a_young_record_is_a_finding(self):
        path = self.write("peak", "fdfit-peak 1\ndefault need=90 bound=128 observed=9 at=1764549000\nend 1\n")
        done = ctl("suggest", "--peak-file", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no record was observed for 24h yet", done.stderr)
        self.assertIn("peak = 90\n", done.stdout)

    def test_reasons_are_comments(self):
        for name in FORMATS:
            with self.subTest(format=name):
                done = ctl("suggest", self.puppet.pid, "--format", name)
                marker = "fdfitctl: note: " if name == "oci" else "# "
                text = done.stderr if name == "oci" else done.stdout
                self.assertEqual(done.returncode, 0)
                self.assertIn(f"{marker}nofile 20000:20000 -> 600:20000 (peak 400 + 50%)\n", text)

    def test_systemd(self):
        analyze = support.need("systemd-analyze")
        os.mkdir(self.path("x.service.d"))
        self.write("x.service", "[Service]\nExecStart=/bin/true\n")

        def verify(text):
            self.write("x.service.d/nofile.conf", text)
            done = support.run(analyze, "verify", self.path("x.service"), stderr=subprocess.STDOUT,
                               env=support.clean_env(SYSTEMD_UNIT_PATH=self.dir + ":"))
            return [line for line in done.stdout.splitlines() if "nofile.conf" in line]

        text = self.suggest("--format=systemd")
        self.assertIn("[Service]\nLimitNOFILE=600:20000\n", text)
        self.assertTrue(verify(text.replace("600:", "x600:")), "systemd-analyze says nothing to a bad value")
        self.assertEqual(verify(text), [])

    def test_docker(self):
        docker = support.need("docker")
        line = self.suggest("--format=docker").splitlines()[-1]
        self.assertEqual(line, "docker run --ulimit nofile=600:20000 IMAGE")

        def ask(words):
            return support.run(docker, *words, env=support.clean_env(DOCKER_HOST="unix:///nonexistent/socket")).stderr

        words = line.replace("IMAGE", "image").split()[1:]
        self.assertIn("invalid argument", ask([w.replace("600:20000", "600:2") for w in words]))
        self.assertNotIn("invalid argument", ask(words))

    def test_compose(self):
        yaml = need_yaml()
        self.assertEqual(yaml.safe_load(self.suggest("--format=compose")),
                         {"services": {"SERVICE": {"ulimits": {"nofile": {"soft": 600, "hard": 20000}}}}})

    def test_podman(self):
        try:
            import tomllib
        except ImportError:
            raise unittest.SkipTest("this Python has no tomllib (3.11)")
        self.assertEqual(tomllib.loads(self.suggest("--format=podman")),
                         {"containers": {"default_ulimits": ["nofile=600:20000"]}})

    def oci(self):
        return json.loads(ctl("suggest", self.puppet.pid, "--format=oci").stdout)

    def test_oci(self):
        self.assertEqual(self.oci(), {"process": {"rlimits": [{"type": "RLIMIT_NOFILE", "hard": 20000, "soft": 600}]}})

    def test_oci_in_runc(self):
        runc = support.need("runc")
        mounts = [{"destination": path, "type": "bind", "source": os.path.realpath(path), "options": ["rbind", "ro"]}
                  for path in ("/usr", "/lib", "/lib64", "/bin") if os.path.isdir(path)]
        config = {
            "ociVersion": "1.0.2", "root": {"path": self.path("root")},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}, *mounts],
            "process": {"args": ["/bin/grep", "open files", "/proc/self/limits"], "cwd": "/",
                        "user": {"uid": os.getuid(), "gid": os.getgid()}, "env": ["PATH=/usr/bin:/bin"]},
            "linux": {"namespaces": [{"type": "pid"}, {"type": "mount"}]},
        }
        os.mkdir(self.path("root"))

        def run():
            self.write("config.json", json.dumps(config))
            name = f"fdfit-ctl-{os.getpid()}"
            return support.run(runc, "--root", self.path("state"), "run", "--bundle", self.dir, name)

        before = run()
        if before.returncode != 0:
            raise unittest.SkipTest(f"runc starts no container here: {(before.stdout + before.stderr).strip()[:200]}")
        config["process"].update(self.oci()["process"])
        self.assertEqual(run().stdout.split()[3:5], ["600", "20000"])

    def test_kubernetes(self):
        yaml = need_yaml()
        spec = yaml.safe_load(self.suggest("--format=kubernetes"))["spec"]["template"]["spec"]
        self.assertEqual(spec["containers"][0]["command"], ["/fdfit/fdfit", "-n", "600:20000", "--", "COMMAND"])
        command = [support.FDFIT if w == "/fdfit/fdfit" else "true" if w == "COMMAND" else w
                   for w in spec["containers"][0]["command"]]
        done = support.run(*command)
        self.assertEqual((done.returncode, done.stderr), (0, "fdfit: nofile 20000:20000 -> 600:20000\n"))
        folder = spec["initContainers"][0]["volumeMounts"][0]["mountPath"]
        self.assertEqual(spec["initContainers"][0]["command"], ["/fdfit", "--install", folder])

    def test_kubernetes_as_a_patch(self):
        kubectl = support.need("kubectl")
        base = self.write("base.yaml", """
apiVersion: apps/v1
kind: Deployment
metadata: {name: x}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers: [{name: CONTAINER, image: image}]
""")
        patch = self.write("patch.yaml", self.suggest("--format=kubernetes"))
        done = support.run(kubectl, "patch", "--local", "-f", base, "--patch-file", patch, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        container, = json.loads(done.stdout)["spec"]["template"]["spec"]["containers"]
        self.assertEqual((container["image"], container["command"][2]), ("image", "600:20000"))

    def test_prlimit(self):
        support.need("prlimit")
        text = self.suggest("--format=prlimit")
        line = text.splitlines()[-1].replace("COMMAND", "grep 'open files' /proc/self/limits")
        self.assertEqual(support.run("sh", "-c", line).stdout.split()[3:5], ["600", "20000"])
        live = next(line[2:] for line in text.splitlines() if line.startswith("# prlimit --pid"))
        self.assertEqual(support.run("sh", "-c", live).returncode, 0)
        self.assertEqual(support.limits_of(self.puppet.pid), (600, 20000))


def need_yaml():
    try:
        import yaml
    except ImportError:
        raise unittest.SkipTest("no YAML parser (python3-yaml)")
    return yaml


#: A service of Python 2 with 127 descriptors: runs commands both ways, in turn, and gives the medians' ratio.
SERVICE = r"""
import os, subprocess, sys, time
null = os.open("/dev/null", os.O_RDONLY)
while True:
    fd = os.dup(null)
    if fd == 126:
        break
sys.stdout.write("ready\n")
sys.stdout.flush()
def cost(close_fds):
    start = time.time()
    assert subprocess.call([sys.argv[1]], close_fds=close_fds) == 0
    return time.time() - start
pairs = [(cost(True), cost(False)) for _ in range(int(sys.argv[2]))]
median = lambda values: sorted(values)[len(values) // 2]
print("%d %d %.3f" % (subprocess.MAXFD, fd + 1, median([a for a, _ in pairs]) / median([b for _, b in pairs])))
sys.stdout.flush()
sys.stdin.read()
"""


class WholeWay(CtlCase):
    """Python 2.7 under a high limit: measure it, suggest a policy, start it by that policy."""

    def start(self, *prefix):
        process = subprocess.Popen(
            [*prefix, support.python2(), "-c", SERVICE, support.helper("noop"), "40"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=support.nofile(20000))
        self.addCleanup(self.stop, process)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def stop(self, process):
        with contextlib.suppress(OSError, ValueError):
            process.stdin.close()
        process.wait(timeout=support.PATIENCE)
        process.stdout.close()
        process.stderr.close()

    def test_measure_suggest_start(self):
        support.python2()
        service, peak = self.start(), self.path("peak")
        before = service.stdout.readline().split()
        done = ctl("measure", service.pid, "--tree", "--for=300ms", "--interval=100ms", "--peak-file", peak)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.stop(service)
        suggested = ctl("suggest", "--peak-file", peak)
        self.assertEqual((suggested.returncode, suggested.stderr), (0, ""))
        self.assertIn("# nofile 20000:20000 -> 256:20000 (peak 127 + 50%, floor 256)\n", suggested.stdout)
        policy = self.write("service.conf", suggested.stdout)
        again = self.start(support.FDFIT, "-q", "-p", policy)
        after = again.stdout.readline().split()
        self.assertEqual((before[:2], after[:2]), (["20000", "127"], ["256", "127"]))
        print(f"# Popen(close_fds=True) over close_fds=False: {before[2]} at 20000, {after[2]} at 256")
        self.stop(again)
        self.assertEqual(again.returncode, 0)


class Manual(CtlCase):
    """fdfitctl(1) has every command and option, and no others."""

    SOURCE = os.path.join(support.SOURCE, "man", "fdfitctl.1.scd")

    def test_mandoc_is_content(self):
        scdoc, mandoc = support.need("scdoc"), support.need("mandoc")
        done = support.run(os.path.join(support.SOURCE, "man", "render.sh"), scdoc, self.SOURCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lint = support.run(mandoc, "-Tlint", self.write("fdfitctl.1", done.stdout))
        self.assertEqual((lint.returncode, lint.stdout), (0, ""))

    def test_options(self):
        with open(self.SOURCE, encoding="utf-8") as file:
            page = file.read()
        for name in COMMANDS:
            section = re.search(rf"^# {name.upper()}\n(.*?)(?=^# [A-Z]|\Z)", page, re.M | re.S)[1]
            documented = re.findall(r"^(?:\*-(\w)\*, )?\*--([a-z-]+)\*(?:=(\S+))?$", section, re.M)
            self.assertEqual({(letter, option, re.sub(r"[_\\*]", "", values)) for letter, option, values in documented},
                             options_of(name) - {("h", "help", "")})
        self.assertEqual(re.findall(r"_([a-z]+)_", re.search(r"\*--format\*.*?\n\n", page, re.S)[0]), list(FORMATS))


def options_of(command):
    """{(letter, name, values)} from its help."""
    text = ctl(command, "--help").stdout
    return set(re.findall(r"^  (?:-(\w), |    )--([a-z-]+)(?:=(\S+))?", text, re.M))


class Completions(CtlCase):
    """The completions know the commands, their options and the formats, all of them and no others."""

    BASH = """
compopt() { :; }
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_fdfitctl
printf '%s\\n' "${COMPREPLY[@]}"
"""

    def file(self, shell):
        return os.path.join(support.SOURCE, "contrib", "completions", f"fdfitctl.{shell}")

    def ask_bash(self, *words):
        done = support.run(support.need("bash"), "--norc", "-c", self.BASH, "bash", self.file("bash"), "fdfitctl",
                           *words)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def ask_fish(self, line):
        script = f"source {self.file('fish')}; complete -C '{line}'"
        done = support.run(support.need("fish"), "--no-config", "-c", script)
        self.assertEqual(done.stderr, "")
        return {found.split("\t")[0] for found in done.stdout.splitlines()}

    def words_of(self, command):
        options = options_of(command)
        return {f"--{name}" for _, name, _ in options} | {f"-{letter}" for letter, _, _ in options if letter}

    def test_bash(self):
        self.assertEqual(self.ask_bash(""), {*COMMANDS, "help"})
        for name in COMMANDS:
            self.assertEqual({word.rstrip("=") for word in self.ask_bash(name, "-")}, self.words_of(name))
            takes = {f"--{option}=" for _, option, values in options_of(name) if values}
            self.assertEqual({word for word in self.ask_bash(name, "--") if word.endswith("=")}, takes)
        self.assertEqual(self.ask_bash("suggest", "--format", ""), set(FORMATS))
        self.assertEqual(self.ask_bash("suggest", "--format", "=", ""), set(FORMATS))
        self.assertEqual(self.ask_bash("suggest", "--hard", ""), {"soft", "inherit", "unlimited"})
        self.assertIn(str(os.getpid()), self.ask_bash("measure", ""))
        self.assertEqual(self.ask_bash("help", ""), set(COMMANDS))

    def test_fish(self):
        self.assertLessEqual({*COMMANDS, "help"}, self.ask_fish("fdfitctl "))
        for name in COMMANDS:
            found = {word.rstrip("=") for word in self.ask_fish(f"fdfitctl {name} --")}
            self.assertEqual(found, {word for word in self.words_of(name) if word.startswith("--")})
        self.assertEqual(self.ask_fish("fdfitctl suggest --format "), set(FORMATS))

    def test_zsh(self):
        with open(self.file("zsh"), encoding="utf-8") as file:
            text = file.read()
        for name in COMMANDS:
            part = re.search(rf"^    {name}\)\n(.*?)^        ;;", text, re.M | re.S)[1]
            found = re.findall(r"(?:\{-(\w)\+?,|')--([a-z-]+)(=?)", part)
            expected = {(letter, option, "=" if values else "") for letter, option, values in options_of(name)}
            self.assertEqual(set(found), expected)
        self.assertEqual(re.search(r"format:\(([a-z ]+)\)", text)[1].split(), list(FORMATS))
        self.assertEqual(tuple(re.findall(r"^    '([a-z]+):", text, re.M)), (*COMMANDS, "help"))

    def test_syntax(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                done = support.run(support.need(shell), "-n", self.file(shell))
                self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    tap.main()
