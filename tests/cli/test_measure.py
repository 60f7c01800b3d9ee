"""The measuring library, through a small driver, against plain listings of /proc and real processes."""
import fcntl
import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import unittest

import support
import tap
from support import need, wait_for

DRIVER = support.helper("measure_driver")

#: Named conditions of process.h and place.h.
GONE, ZOMBIE, DENIED = 1, 2, 3
BUSY, FULL_OF_LABELS = 1, 2

NOBODY = 65534

#: What the small workloads below share. Each prints a line when it is as the test wants it.
PRELUDE = """
import ctypes, fcntl, os, signal, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def ready(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
def open_to(n):
    "Have every number below n open."
    while max(map(int, os.listdir("/proc/thread-self/fd"))) < n:
        fd = os.open("/dev/null", os.O_RDONLY)
        if fd == n - 1:
            return
        if fd >= n:
            os.close(fd)
            return
"""


def listing(pid):
    """(count, highest + 1) over the process's tables, by plain listings."""
    tables = []
    for folder in [f"/proc/{pid}/fd", *glob.glob(f"/proc/{pid}/task/*/fd")]:
        try:
            tables.append([int(name) for name in os.listdir(folder)])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return max(map(len, tables)), max((max(numbers) + 1 if numbers else 0) for numbers in tables)


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def need_root():
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root, to be another user and to mount")


class Meter:
    """A driver in meter mode: tick() and the like return the result, events gathers what it told."""

    def __init__(self, root, *words, prefix=(), **more):
        self.events = []
        self.popen = subprocess.Popen([*prefix, DRIVER, "meter", str(root), *words], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, env=support.clean_env(), **more)

    def ask(self, command):
        self.popen.stdin.write(command + "\n")
        self.popen.stdin.flush()
        while True:
            line = self.popen.stdout.readline()
            if not line:
                raise AssertionError(f"the driver ended at {command!r}")
            answer = json.loads(line)
            if "event" not in answer:
                return answer
            self.events.append(answer)

    def tick(self):
        return self.ask("tick")

    def current(self):
        return self.ask("current")["current"]

    def sample(self, *pids):
        for line in ["begin", *(f"add {pid}" for pid in pids)]:
            self.popen.stdin.write(line + "\n")
        return self.ask("end")

    def close(self):
        self.popen.stdin.close()
        self.popen.stdout.close()
        if self.popen.wait(timeout=support.PATIENCE) != 0:
            raise AssertionError(f"the driver ended with {self.popen.returncode}")


class MeasureCase(support.Case):
    def spawn(self, *argv, limit=20000, **more):
        """Start a program that ends with its stdin, at the latest with the test."""
        more.setdefault("preexec_fn", support.nofile(min(limit, self.hard()), self.hard()))
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 env=support.clean_env(), **more)
        self.addCleanup(self.end, child)
        return child

    @staticmethod
    def hard():
        return support.limits_of()[1]

    @staticmethod
    def end(child):
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()

    def work(self, script, **more):
        """A Python workload, once it has said that it is ready."""
        child = self.spawn(sys.executable, "-S", "-c", PRELUDE + script, **more)
        child.said = child.stdout.readline().split()
        self.assertTrue(child.said, "the workload ended early")
        return child

    def go(self, child, expect="done"):
        """Let a workload that waits for a line go on, until it says `expect`."""
        child.stdin.write("go\n")
        child.stdin.flush()
        self.assertEqual(child.stdout.readline().strip(), expect)

    def meter(self, root, *words, **more):
        meter = Meter(root, *words, **more)
        self.addCleanup(meter.close)
        return meter

    def driver(self, *words, **more):
        """The last line that the driver answers."""
        done = support.run(DRIVER, *map(str, words), **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def process(self, pid, **more):
        return self.driver("process", pid, **more)

    def expect_listing(self, pid):
        found = self.process(pid)
        self.assertEqual((found["r"], found["exact"]), (0, True))
        self.assertEqual((found["open"], found["need"]), listing(pid))
        return found


class OneProcess(MeasureCase):
    def test_dense_tables(self):
        for n in (10, 63, 64, 65, 1000, 5000):
            child = self.work(f"open_to({n}); ready(1); sys.stdin.readline()")
            found = self.expect_listing(child.pid)
            self.assertEqual(found["need"], n)
            self.assertLessEqual(found["need"], found["size"])

    def test_sparse_process_needs_its_highest_number(self):
        child = self.work("""
for fd in range(3, 15): os.dup2(0, fd)
fcntl.fcntl(0, fcntl.F_DUPFD, 18999)
ready(1); sys.stdin.readline()""")
        found = self.expect_listing(child.pid)
        self.assertEqual(found["need"], 19000)
        self.assertLessEqual(found["open"], 16)

    def test_random_tables(self):
        chance = random.Random(4)
        for _ in range(12):
            numbers = chance.sample(range(3, chance.choice([40, 300, 6000])), chance.randint(0, 30))
            child = self.work(f"""
for fd in {numbers}: os.dup2(0, fd)
ready(1); sys.stdin.readline()""")
            with self.subTest(numbers=numbers):
                self.expect_listing(child.pid)

    def test_all_closed(self):
        child = self.work("ready(1); os.closerange(0, 1000); signal.pause()")
        wait_for(lambda: listing(child.pid) == (0, 0), "all to be closed")
        found = self.expect_listing(child.pid)
        self.assertEqual((found["open"], found["need"]), (0, 0))

    def test_exec_keeps_what_is_inherited(self):
        child = self.work("""
for fd in range(3, 400): os.dup2(0, fd)
os.execv(sys.executable, [sys.executable, "-S", "-c", "print('exec', flush=True); input()"])""")
        self.assertEqual(child.said, ["exec"])
        self.assertEqual(self.expect_listing(child.pid)["need"], 400)

    def test_zombie(self):
        child = self.work("""
pid = os.fork()
if pid == 0: os._exit(0)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
ready(pid); sys.stdin.readline()""")
        found = self.process(child.said[0])
        self.assertEqual((found["r"], found["zombie"]), (ZOMBIE, True))

    def test_no_such_process(self):
        child = self.spawn("true")
        child.wait()
        self.assertEqual(self.process(child.pid)["r"], GONE)

    def test_vanishing_processes_are_no_error(self):
        # Each look races with a process that ends at once.
        for _ in range(40):
            child = subprocess.Popen(["true"])
            found = self.process(child.pid)
            self.assertIn(found["r"], (0, GONE, ZOMBIE), found)
            child.wait()


class Threads(MeasureCase):
    def test_common_table(self):
        child = self.work("""
for _ in range(20): threading.Thread(target=sys.stdin.readline, daemon=True).start()
open_to(300)
ready(1); signal.pause()""")
        found = self.expect_listing(child.pid)
        self.assertEqual((found["threads"], found["several"], found["need"]), (21, False, 300))

    def test_thread_with_a_table_of_its_own(self):
        child = self.work("""
def own():
    if libc.unshare(0x400): os._exit(9)
    open_to(700)
    ready(1)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    signal.sigwait([signal.SIGUSR1])
threading.Thread(target=own, daemon=True).start()
signal.pause()""")
        self.assertLess(len(os.listdir(f"/proc/{child.pid}/fd")), 100)
        found = self.expect_listing(child.pid)
        self.assertEqual((found["several"], found["need"]), (True, 700))
        meter = self.meter(0)
        self.assertEqual(meter.sample(child.pid)["need"], 700)

    def test_own_table_without_kcmp(self):
        need_root()
        if not shutil.which("setpriv"):
            raise unittest.SkipTest("setpriv is not installed")
        child = self.work("""
def own():
    if libc.unshare(0x400): os._exit(9)
    open_to(700)
    ready(1)
    signal.sigwait([signal.SIGUSR1])
threading.Thread(target=own, daemon=True).start()
signal.pause()""")
        # Without CAP_SYS_PTRACE, and with less than the other process has, kcmp is refused.
        weak = "-all,+dac_override"
        done = support.run("setpriv", f"--inh-caps={weak}", f"--bounding-set={weak}", DRIVER, "process", str(child.pid))
        found = json.loads(done.stdout)
        self.assertEqual((found["several"], found["need"], found["exact"]), (True, 700, True))

    def test_leader_has_ended(self):
        child = self.work("""
def rest():
    while "Z" not in open("/proc/self/stat").read().split(")")[-1][:3]: pass
    open_to(200)
    ready(1)
    signal.sigwait([signal.SIGUSR1])
threading.Thread(target=rest).start()
libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)""")
        found = self.process(child.pid)
        self.assertEqual((found["r"], found["zombie"], found["exact"]), (0, True, True))
        self.assertEqual((found["open"], found["need"]), listing(child.pid))
        self.assertEqual(found["need"], 200)
        meter = self.meter(0)
        result = meter.sample(child.pid)
        self.assertEqual((result["need"], result["processes"]), (200, 1))

    def test_child_of_another_thread_is_in_the_tree(self):
        child = self.work("""
import subprocess
def fork():
    p = subprocess.Popen(["sleep", "1000"])
    ready(p.pid)
    signal.sigwait([signal.SIGUSR1])
signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
threading.Thread(target=fork, daemon=True).start()
signal.pause()""")
        forked = int(child.said[0])
        self.addCleanup(os.kill, forked, signal.SIGKILL)
        self.assertEqual(self.driver("tree", child.pid)["pids"], [forked])


class Permission(MeasureCase):
    def setUp(self):
        super().setUp()
        need_root()
        # Where another user reaches the driver.
        os.chmod(self.dir, 0o755)
        self.copy = shutil.copy(DRIVER, self.path("driver"))

    def ask(self, *words):
        done = support.run(self.copy, *map(str, words), preexec_fn=as_nobody)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def test_another_users_process_is_bounded(self):
        child = self.work("open_to(300); ready(1); sys.stdin.readline()")
        found = self.ask("process", child.pid)
        self.assertEqual((found["r"], found["exact"], found["need"]), (0, False, 0))
        self.assertEqual(found["size"], 512)
        self.assertEqual(found["open"], listing(child.pid)[0])

    def test_meter_takes_the_count_and_says_so(self):
        child = self.work("os.dup2(0, 400); ready(1); sys.stdin.readline()")
        meter = Meter(0, preexec_fn=as_nobody)
        self.addCleanup(meter.close)
        result = meter.sample(child.pid)
        self.assertEqual((result["denied"], result["processes"], result["bound"]), (1, 1, 512))
        self.assertEqual(result["need"], listing(child.pid)[0])

    def hidden(self, how, pid):
        need("unshare")
        os.mkdir(self.path("proc"))
        script = f"mount -t proc -o hidepid={how} proc {self.path('proc')} || exit 77\n" \
                 f"exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {self.copy} " \
                 f"--proc {self.path('proc')} process {pid}"
        done = support.run("unshare", "-m", "sh", "-c", script)
        if done.returncode == 77:
            raise unittest.SkipTest(f"can't mount /proc with hidepid={how}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def test_hidepid_2_looks_like_no_process(self):
        child = self.work("ready(1); sys.stdin.readline()")
        self.assertEqual(self.hidden(2, child.pid)["r"], GONE)

    def test_hidepid_1_is_denied(self):
        child = self.work("ready(1); sys.stdin.readline()")
        self.assertEqual(self.hidden(1, child.pid)["r"], DENIED)


class Tree(MeasureCase):
    def test_generations_and_ended_parents(self):
        # A forks B forks C; B ends, and C goes to the subreaper A.
        child = self.work("""
libc.prctl(36, 1)
r, w = os.pipe()
b = os.fork()
if b == 0:
    c = os.fork()
    if c == 0:
        open_to(150)
        os.write(w, b"x")
        signal.pause()
    os.read(r, 1)
    ready(c)
    sys.stdin.readline()
    os._exit(0)
os.waitpid(b, 0)
ready("done")
signal.pause()""")
        grandchild = int(child.said[0])
        self.addCleanup(os.kill, grandchild, signal.SIGKILL)
        meter = self.meter(child.pid)
        self.assertEqual((meter.tick()["processes"], meter.tick()["need"]), (2, 150))
        self.go(child)
        result = meter.tick()
        self.assertEqual((result["processes"], result["seen"], result["need"]), (1, 2, 150))
        self.assertEqual(self.driver("tree", child.pid)["pids"], [grandchild])

    def inside(self):
        """PID 1 of a new pid namespace, a shell; its pid outside."""
        need_root()
        need("unshare")
        need("nsenter")
        outer = self.spawn("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c",
                           "trap '' TERM; sleep 1000 & echo ready; while :; do wait; sleep 1000; done")
        if outer.stdout.readline().strip() != "ready":
            raise unittest.SkipTest("can't make a pid namespace")
        return int(support.run("pgrep", "-P", str(outer.pid)).stdout.split()[0])

    def enter(self, pid, *argv):
        return self.spawn("nsenter", "-t", str(pid), "-p", "-m", *argv)

    def test_debug_shell_is_not_of_the_workload(self):
        pid = self.inside()
        meter = Meter(1, prefix=["nsenter", "-t", str(pid), "-p", "-m"])
        self.addCleanup(meter.close)
        before = meter.tick()
        # The driver itself was put in from outside as well, and is left out; so are the shell and its child.
        shell = self.enter(pid, sys.executable, "-S", "-c", PRELUDE + """
open_to(900)
if os.fork() == 0:
    open_to(901)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pause()
ready(1); sys.stdin.readline(); os._exit(0)""")
        self.assertTrue(shell.stdout.readline())
        after = meter.tick()
        self.assertEqual((after["processes"], after["need"]), (before["processes"], before["need"]))
        self.assertGreater(after["used"], before["used"])
        # When the shell ends, its child becomes a child of PID 1. It is still known.
        shell.stdin.write("\n")
        shell.stdin.close()
        shell.wait()
        after = meter.tick()
        self.assertEqual((after["processes"], after["need"]), (before["processes"], before["need"]))
        shell.stdin = open(os.devnull)

    def test_pid_1_counts_its_own(self):
        pid = self.inside()
        meter = Meter(1, prefix=["nsenter", "-t", str(pid), "-p", "-m"])
        self.addCleanup(meter.close)
        inner = self.driver("--proc", f"/proc/{pid}/root/proc", "tree", 1)
        self.assertEqual(meter.tick()["processes"], len(inner["pids"]))
        self.assertGreaterEqual(len(inner["pids"]), 1)


class Rule(MeasureCase):
    def test_burst_between_samples_shows_in_the_bound(self):
        child = self.work("""
ready(1); sys.stdin.readline()
fds = [os.dup(0) for _ in range(4000)]
for fd in fds: os.close(fd)
ready("done"); sys.stdin.readline()""")
        meter = self.meter(0)
        before = meter.sample(child.pid)
        self.go(child)
        after = meter.sample(child.pid)
        self.assertLess(before["bound"], 4096)
        self.assertEqual((after["bound"], after["need"]), (4096, before["need"]))

    def test_record_is_kept_and_names_its_program(self):
        child = self.work("""
open_to(500); ready(1); sys.stdin.readline()
os.closerange(3, 500)
ready("done"); sys.stdin.readline()""")
        meter = self.meter(0)
        first = meter.sample(child.pid)
        self.assertEqual((first["need"], first["need_pid"]), (500, child.pid))
        self.assertTrue(sys.executable.startswith(first["argv0"]) or first["argv0"] == sys.executable[:63])
        self.assertEqual(meter.current(), 500)
        self.go(child)
        again = meter.sample(child.pid)
        self.assertEqual((again["need"], again["open"]), (500, listing(child.pid)[0]))
        self.assertEqual(meter.current(), listing(child.pid)[1])

    def test_new_record_within_a_class(self):
        child = self.work("""
open_to(70); ready(1); sys.stdin.readline()
open_to(100); ready("done"); sys.stdin.readline()""")
        meter = self.meter(0)
        self.assertEqual(meter.sample(child.pid)["need"], 70)
        self.go(child)
        self.assertEqual(meter.sample(child.pid)["need"], 100)

    def test_current_finds_what_the_rule_does_not_look_for(self):
        # As many as before, in the same class, but one of a higher number.
        child = self.work("""
open_to(70); ready(1); sys.stdin.readline()
os.close(69); os.dup2(0, 120)
ready("done"); sys.stdin.readline()""")
        meter = self.meter(0)
        meter.sample(child.pid)
        self.go(child)
        self.assertEqual(meter.sample(child.pid)["need"], 70)
        self.assertEqual(meter.current(), 121)
        self.assertEqual(meter.sample(child.pid)["need"], 121)

    def test_the_largest_single_process_counts(self):
        many = [self.work(f"open_to({n}); ready(1); sys.stdin.readline()") for n in (50, 90, 70)]
        result = self.meter(0).sample(*(child.pid for child in many))
        self.assertEqual((result["need"], result["processes"], result["seen"]), (90, 3, 3))
        self.assertEqual(result["need_pid"], many[1].pid)

    def test_near_and_at_the_limit_once_each(self):
        child = self.work("""
import errno
ready(1)
held = []
def hold(n):
    while len(os.listdir("/proc/self/fd")) - 1 < n: held.append(os.dup(0))
for n in (30, 45):
    sys.stdin.readline(); hold(n); ready("done")
sys.stdin.readline()
try:
    while True: held.append(os.dup(0))
except OSError as e:
    ready("done" if e.errno == errno.EMFILE else "what")
sys.stdin.readline()
""", limit=50)
        meter = self.meter(0, "warn=80")
        meter.sample(child.pid)
        self.go(child)
        meter.sample(child.pid)
        self.assertEqual(meter.events, [])
        self.go(child)
        meter.sample(child.pid)
        meter.sample(child.pid)
        self.go(child)
        meter.sample(child.pid)
        result = meter.sample(child.pid)
        self.assertEqual([(e["event"], e["pid"], e["open"], e["soft"]) for e in meter.events],
                         [("near", child.pid, 45, 50), ("at", child.pid, 50, 50)])
        self.assertEqual(result["at_limit"], 1)

    def test_raised_limit_is_read_before_a_word_is_said(self):
        child = self.work("""
open_to(30); ready(1); sys.stdin.readline()
open_to(48); ready("done"); sys.stdin.readline()""", limit=50)
        meter = self.meter(0, "warn=80")
        meter.sample(child.pid)
        resource.prlimit(child.pid, resource.RLIMIT_NOFILE, (1000, self.hard()))
        self.go(child)
        meter.sample(child.pid)
        self.assertEqual(meter.events, [])
        resource.prlimit(child.pid, resource.RLIMIT_NOFILE, (50, self.hard()))
        for _ in range(64):  # a lowered one is noticed now and then
            meter.sample(child.pid)
        self.assertEqual([(e["event"], e["soft"]) for e in meter.events], [("near", 50)])

    def test_full_table_is_said(self):
        child = self.work("""
pids = []
for _ in range(40):
    pid = os.fork()
    if pid == 0: signal.pause()
    pids.append(pid)
last = os.fork()
if last == 0:
    open_to(600); ready(1); signal.pause()
sys.stdin.readline()
for pid in [*pids, last]: os.kill(pid, 9)
for pid in [*pids, last]: os.waitpid(pid, 0)
ready("done"); sys.stdin.readline()""")
        meter = self.meter(child.pid, "entries=16")
        result = meter.tick()
        self.assertEqual((result["processes"], result["used"], result["untracked"]), (41, 14, 27))
        self.assertEqual((result["need"], result["bound"]), (600, 1024))
        self.go(child)
        result = meter.tick()
        self.assertEqual((result["processes"], result["used"], result["untracked"]), (0, 0, 0))

    def test_processes_that_come_and_go(self):
        child = self.work("""
ready(1)
for line in sys.stdin:
    pids = []
    for _ in range(30):
        pid = os.fork()
        if pid == 0: signal.pause()
        pids.append(pid)
    ready("done"); sys.stdin.readline()
    for pid in pids: os.kill(pid, 9); os.waitpid(pid, 0)
    ready("done")""")
        meter = self.meter(child.pid, "entries=64")
        for turn in range(1, 6):
            self.go(child)
            result = meter.tick()
            self.assertEqual((result["processes"], result["seen"], result["used"]), (30, 30 * turn, 30))
            self.go(child)
            self.assertEqual(meter.tick()["used"], 0)

    def test_interval_widens_by_the_cost(self):
        child = self.work("""
for _ in range(300):
    if os.fork() == 0: signal.pause()
ready(1); sys.stdin.readline(); os.killpg(0, 9)""", start_new_session=True)
        self.addCleanup(os.killpg, child.pid, signal.SIGKILL)
        meter = self.meter(child.pid, "interval=100")
        first, second = meter.tick(), meter.tick()
        self.assertEqual((first["processes"], first["widened"], second["widened"]), (300, 1, 2))
        self.assertGreater(second["interval"], 100)
        wide = self.meter(child.pid, "interval=3600000").tick()
        self.assertEqual((wide["interval"], wide["widened"]), (3600000, 0))


class BashSlot(MeasureCase):
    SCRIPT = "#!{bash}\n{more}\necho ready\nread line\n"

    def script(self, more="", limit=20000, argv=None, shebang=None):
        bash = need("bash")
        path = self.write("script", self.SCRIPT.format(bash=shebang or bash, more=more), 0o755)
        child = self.spawn(*(argv or [path]), limit=limit)
        self.assertEqual(child.stdout.readline().strip(), "ready")
        return child

    def test_script_is_no_need(self):
        for argv in (None, [need("bash"), self.path("script")]):
            child = self.script(argv=argv)
            self.assertIn("255", os.listdir(f"/proc/{child.pid}/fd"))
            self.assertEqual(self.process(child.pid)["need"], 3)
            self.assertEqual(self.meter(0).sample(child.pid)["need"], 3)

    def test_what_else_it_holds_is(self):
        child = self.script(more="exec 40</dev/null")
        self.assertEqual(self.process(child.pid)["need"], 41)

    def test_under_a_low_limit(self):
        child = self.script(limit=100)
        self.assertIn("99", os.listdir(f"/proc/{child.pid}/fd"))
        self.assertEqual(self.process(child.pid)["need"], 3)

    def test_not_alone(self):
        child = self.script(more="exec 200</dev/null")
        self.assertEqual(self.process(child.pid)["need"], 256)

    def test_other_programs_255_is_a_need(self):
        child = self.work("os.dup2(os.open('/etc/passwd', os.O_RDONLY), 255); ready(1); sys.stdin.readline()")
        self.assertEqual(self.process(child.pid)["need"], 256)

    def test_a_255_that_bash_was_given(self):
        # Regular, alone, in bash; but a script would be closed on exec.
        child = self.script(argv=[need("bash"), "-c", "exec 255</etc/passwd; echo ready; read line"])
        self.assertEqual(self.process(child.pid)["need"], 256)

    def test_by_name_where_exe_may_not_be_read(self):
        need_root()
        need("setpriv")
        child = self.script()
        weak = "-all,+dac_override"
        done = support.run("setpriv", f"--inh-caps={weak}", f"--bounding-set={weak}", DRIVER, "process", str(child.pid))
        self.assertEqual(json.loads(done.stdout)["need"], 3)


class PeakFile(MeasureCase):
    def update(self, need_, label="default", bound=256, observed=10, *more, path=None, **how):
        return self.driver("update", path or self.path("peak"), label, need_, bound, observed, *more, **how)

    def content(self):
        with open(self.path("peak"), encoding="ascii") as file:
            return file.read()

    def records(self):
        """{label: {name: value}}; fails unless the file is whole."""
        lines = self.content().splitlines()
        self.assertEqual(lines[0], "fdfit-peak 1")
        self.assertEqual(lines[-1], f"end {len(lines) - 2}")
        return {line.split()[0]: dict(word.split("=") for word in line.split()[1:]) for line in lines[1:-1]}

    def test_never_smaller_and_time_adds_up(self):
        for value in (127, 90):
            self.assertEqual(self.update(value)["r"], 0)
        record = self.records()["default"]
        self.assertEqual((record["need"], record["bound"], record["observed"], record["by"]), ("127", "256", "20", "driver"))

    def test_reset(self):
        self.update(127, bound=1024)
        self.update(90, "default", 128, 5, "reset")
        record = self.records()["default"]
        self.assertEqual((record["need"], record["bound"], record["observed"]), ("90", "128", "5"))

    def test_labels_stand_side_by_side(self):
        self.update(127)
        self.update(210, "peak-load")
        self.update(300, "a label=x\n")
        self.assertEqual(sorted(self.records()), ["a_label_x_", "default", "peak-load"])
        for number in range(29):
            self.assertEqual(self.update(5, f"l{number}")["r"], 0)
        whole = self.content()
        self.assertEqual(self.update(5, "one-too-many")["r"], FULL_OF_LABELS)
        self.assertEqual(self.content(), whole)
        self.assertEqual(self.update(128)["r"], 0)

    def test_mode_is_0644_whatever_the_umask(self):
        self.update(127, preexec_fn=lambda: os.umask(0o077))
        self.assertEqual(os.stat(self.path("peak")).st_mode & 0o7777, 0o644)

    def test_torn_file_is_replaced(self):
        self.update(127)
        whole = self.content().encode()
        for torn in [b"", *(whole[:n] for n in range(1, len(whole))), b"\0" * len(whole)]:
            self.write("peak", torn)
            with self.subTest(torn=torn):
                self.assertEqual(self.update(99)["r"], 0)
                self.assertEqual(self.records()["default"]["need"], "99")

    def test_files_of_others_are_left_alone(self):
        for content, why in ((b"root:x:0:0\n", "is not a peak file, and is left as it is"),
                             (b"fdfit-peak 2\ndefault need=9\nend 1\n", "has version 2"),
                             (b"no line end", "is torn"), (b"\x7fELF\0\n", "is torn"),
                             (b"x" * 20000, "too large")):
            self.write("peak", content)
            found = self.update(127)
            self.assertLess(found["r"], 0)
            self.assertIn(why, found["error"])
            with open(self.path("peak"), "rb") as file:
                self.assertEqual(file.read(), content)

    def test_only_a_regular_file(self):
        self.write("target", "fdfit-peak 1\nend 0\n")
        os.symlink("target", self.path("peak"))
        self.assertEqual(self.update(127)["error"], "is not a regular file")
        os.unlink(self.path("peak"))
        os.mkfifo(self.path("peak"))
        self.assertEqual(self.update(127)["error"], "is not a regular file")
        for name in ("peak.new", "peak.lock"):
            os.unlink(self.path("peak")) if os.path.lexists(self.path("peak")) else None
            if os.path.lexists(self.path(name)):
                os.unlink(self.path(name))
            os.symlink("target", self.path(name))
            found = self.update(127)
            # A leftover NAME.new is removed, not followed; a lock that is a link is refused.
            self.assertEqual(found["r"] == 0, name == "peak.new", found)
        with open(self.path("target"), encoding="ascii") as file:
            self.assertEqual(file.read(), "fdfit-peak 1\nend 0\n")

    def test_path_without_a_folder_or_a_name(self):
        self.assertIn("folder can't be opened", self.update(1, path=self.path("none/peak"))["error"])
        self.assertIn("names a folder", self.update(1, path=self.dir + "/")["error"])
        self.assertIn("at most 250 bytes", self.update(1, path=self.path("n" * 251))["error"])
        self.assertEqual(self.update(1, path=self.path("n" * 250))["r"], 0)
        self.assertEqual(self.update(7, path="relative", cwd=self.dir)["r"], 0)
        self.assertTrue(os.path.exists(self.path("relative")))

    def test_lock_is_not_waited_for(self):
        self.update(127)
        with open(self.path("peak.lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertEqual(self.update(200), {"r": BUSY, "error": ""})
            self.assertEqual(self.records()["default"]["need"], "127")
        self.assertEqual(self.update(200)["r"], 0)

    def test_two_writers_lose_nothing(self):
        argv = [[DRIVER, "update", self.path("peak"), "default", str(first), "64", "1", "times=300"]
                for first in (1000, 5000)]
        runs = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=support.clean_env()) for words in argv]
        done, highest = 0, 0
        for first, run in zip((1000, 5000), runs):
            answers = [json.loads(line)["r"] for line in run.communicate(timeout=support.PATIENCE)[0].splitlines()]
            self.assertEqual(len(answers), 300)
            self.assertLessEqual(set(answers), {0, BUSY})
            done += answers.count(0)
            highest = max([highest, *(first + i for i, r in enumerate(answers) if r == 0)])
        record = self.records()["default"]
        self.assertEqual((int(record["observed"]), int(record["need"])), (done, highest))

    def test_kill_9_at_any_time(self):
        """The writer dies at whatever moment, until 500 updates were made: the file is whole each time."""
        self.update(1)
        chance, writes = random.Random(9), 0
        while writes < 500:
            before = int(self.records()["default"]["need"])
            run = subprocess.Popen([DRIVER, "update", self.path("peak"), "default", str(before + 1), "64", "1",
                                    "times=100000"], stdout=subprocess.PIPE, text=True, env=support.clean_env())
            for _ in range(chance.randint(1, 12)):
                run.stdout.readline()
            for _ in range(chance.randint(0, 3000)):
                pass
            run.kill()
            run.wait()
            run.stdout.close()
            after = int(self.records()["default"]["need"])
            self.assertGreater(after, before)
            writes += after - before
        self.assertEqual(self.update(1)["r"], 0)
        self.assertEqual(sorted(os.listdir(self.dir)), ["peak", "peak.lock"])

    def test_killed_at_each_system_call(self):
        strace = need("strace")
        self.update(100)
        old = self.content()
        calls = {}
        for call in ("openat", "flock", "unlinkat", "fchmod", "write", "close", "renameat", "newfstatat", "fstat"):
            for when in range(1, 60):
                argv = [strace, "-qq", "-o", os.devnull, "-e", "signal=none", "-e", f"trace={call}",
                        "-e", f"inject={call}:signal=KILL:when={when}"]
                done = support.run(*argv, DRIVER, "update", self.path("peak"), "default", "200", "64", "1")
                self.assertIn(self.content() == old or self.records()["default"]["need"] == "200", [True])
                if done.returncode == 0:
                    break
                calls[call] = when
                self.write("peak", old)
        self.assertIn("renameat", calls)
        self.assertIn("flock", calls)

    def in_small_filesystem(self, script, options="size=16k"):
        need_root()
        need("unshare")
        os.mkdir(self.path("small"))
        done = support.run("unshare", "-m", "sh", "-c",
                           f"mount -t tmpfs -o {options} none {self.path('small')} || exit 77\n"
                           f"cd {self.path('small')}\nupdate() {{ {DRIVER} update \"$@\"; }}\n{script}")
        if done.returncode == 77:
            raise unittest.SkipTest(f"can't mount a tmpfs: {done.stderr.strip()}")
        return done.stdout

    def test_full_disk(self):
        out = self.in_small_filesystem("""
update peak default 127 256 1 && cp peak /dev/stdout
head -c 100000 /dev/zero >filler 2>/dev/null
update peak default 300 512 1
ls; cat peak""").splitlines()
        self.assertEqual(json.loads(out[0])["r"], 0)
        failed = json.loads(out[4])
        self.assertEqual(failed, {"r": -28, "error": "can't be written: peak.new: no space left"})
        self.assertEqual(out[5:8], ["filler", "peak", "peak.lock"])
        self.assertEqual(out[8:], out[1:4])

    def test_read_only_filesystem(self):
        out = self.in_small_filesystem("""
update peak default 127 256 1
rm -f peak.lock; mount -o remount,ro .
update peak default 300 512 1""").splitlines()
        self.assertEqual(json.loads(out[1]), {"r": -30, "error": "can't be written: peak.lock: read-only file system"})

    def test_folder_that_may_not_be_written(self):
        need_root()
        os.chmod(self.dir, 0o755)
        copy = shutil.copy(DRIVER, self.path("driver"))
        self.update(127)
        done = support.run(copy, "update", self.path("peak"), "default", "300", "512", "1", preexec_fn=as_nobody)
        self.assertEqual(json.loads(done.stdout), {"r": -13, "error": "can't be written: peak.lock: permission denied"})
        self.assertEqual(self.records()["default"]["need"], "127")


def promtool():
    """promtool of the unpacked Debian package or of PATH, or a skip."""
    found = shutil.which("promtool", path=os.path.join(support.VICTIMS, "usr", "bin")) if support.VICTIMS else None
    found = found or shutil.which("promtool")
    if not found:
        raise unittest.SkipTest("promtool is neither among the unpacked packages nor on PATH")
    return found


class Report(MeasureCase):
    FOLDER = os.path.join(support.SOURCE, "contrib", "prometheus")

    def report(self, workload="shop", label="default", soft="256"):
        return subprocess.run([DRIVER, "report", workload, label, soft], stdout=subprocess.PIPE, check=True,
                              env=support.clean_env(), timeout=support.PATIENCE).stdout

    def metrics(self):
        return set(re.findall(r"^# TYPE (\w+)", self.report().decode(), re.M))

    def test_text(self):
        text = self.report().decode()
        self.assertIn('fdfit_nofile_soft{workload="shop",label="default"} 256\n', text)
        self.assertIn('fdfit_nofile_inherited_soft{workload="shop",label="default"} +Inf\n', text)
        self.assertTrue(text.endswith("\n"))
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) fdfit_\w+ .+|fdfit_\w+\{workload="shop",label="default"\} (\d+|\+Inf))$')

    def test_label_escapes(self):
        text = self.report(workload=b'a"b\\c\nd', label=b"gr\xc3\xbc\xc3\x9fe \xff\xc3 \xe0\x80\x80 \xed\xa0\x80")
        self.assertIn(b'{workload="a\\"b\\\\c\\nd",label="gr\xc3\xbc\xc3\x9fe ', text)
        values = text.decode("utf-8")  # fails on a bad byte
        self.assertIn("\ufffd\ufffd ", values)

    def test_promtool_accepts_it(self):
        tool = promtool()
        for words in ({}, {"workload": b'a"b\\c\nd', "label": b"\xff\xc3\xa9"}, {"soft": str(2**64 - 1)}):
            done = subprocess.run([tool, "check", "metrics"], input=self.report(**words), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=support.PATIENCE, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, b""))

    def test_rules(self):
        tool = promtool()
        for words in (["check", "rules", "fdfit.rules.yml"], ["test", "rules", "fdfit.rules.test.yml"]):
            done = support.run(tool, *words, cwd=self.FOLDER)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rules_and_dashboard_name_only_what_is_reported(self):
        known = self.metrics()
        for name in ("fdfit.rules.yml", "fdfit-dashboard.json"):
            with open(os.path.join(self.FOLDER, name), encoding="utf-8") as file:
                used = set(re.findall(r"\bfdfit_\w+", file.read()))
            self.assertTrue(used)
            self.assertLessEqual(used, known, name)

    def test_dashboard_is_json(self):
        with open(os.path.join(self.FOLDER, "fdfit-dashboard.json"), encoding="utf-8") as file:
            board = json.load(file)
        self.assertTrue(board["title"])
        ids = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        for panel in board["panels"]:
            for target in panel.get("targets", []):
                self.assertTrue(target["expr"])

    def test_a_reader_sees_whole_files(self):
        path = self.path("fdfit.prom")
        sizes = (10000, 50000)
        for turn in range(20):
            self.assertEqual(self.driver("write", path, sizes[turn % 2])["r"], 0)
            self.assertEqual(os.path.getsize(path), sizes[turn % 2])


if __name__ == "__main__":
    tap.main()
