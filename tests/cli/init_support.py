"""What the init tests share: the launchers as a table, starting one as PID 1 or outside, and watching it.

The tests run against fdfit, and against other small inits when FDFIT_TEST_LAUNCHER names one. What another launcher has
no option for is skipped there; what it has is tested as strictly as fdfit.
"""
import ctypes
import functools
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

import support

#: How long a test waits for what must come. Only a failing test ever waits that long.
PATIENCE = float(os.environ.get("FDFIT_TEST_PATIENCE", "30"))
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")

FAULTS = {signal.SIGILL, signal.SIGTRAP, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGSYS}
#: Every signal that a launcher can pass on, as numbers (32 and 33 have no name). ABRT has a test of its own: other
#: launchers count it among the faults.
FORWARDABLE = [n for n in range(1, 65)
               if n not in FAULTS | {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGABRT}]
REAL_TIME = range(32, 65)
#: Sent after others to know that they are through: both the launcher and `sigcount` take pending signals lowest first,
#: so this one, above all that a terminal sends, comes last.
FENCE = int(signal.SIGPWR)

SI_USER, SI_QUEUE = 0, -1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)


def name_of(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def queue(pid, number, value):
    """rt_sigqueueinfo(2) with SI_QUEUE: kernel signal numbers, 32 and 33 too."""
    if _libc.sigqueue(pid, number, ctypes.c_void_p(value)) != 0:
        raise OSError(ctypes.get_errno(), f"sigqueue {number} to {pid}")


def _number(name):
    """A signal's number as dumb-init takes it: by name, by number, or 0."""
    return int(name) if name.isdigit() else int(signal.Signals[f"SIG{name}"])


class Launcher:
    """One launcher: its path, and how each thing that the tests ask for is said on its command line.

    `options` maps a keyword of command() to a function from the value to words, or to None where the launcher cannot.
    """

    def __init__(self, name, path, always=(), end=("--",), **options):
        self.name, self.path, self.always, self.end, self.options = name, path, list(always), list(end), options

    def command(self, argv, **wanted):
        words = [self.path] + self.always
        for key, value in wanted.items():
            make = self.options.get(key)
            given = make(value) if make else None
            if given is None:
                raise unittest.SkipTest(f"{self.name} has no {key.replace('_', '-')}={value}")
            words += given
        return words + self.end + list(argv)


def _fdfit():
    def key(name):
        return lambda value: [f"--{name}={value}"]

    return Launcher(
        "fdfit", support.FDFIT, always=["--init"], signal_to=key("signal-to"), rewrite=key("rewrite"),
        grace=key("grace"), exit_map=key("exit-map"), parent_death=key("parent-death"), nofile=key("nofile"),
        wait_all=lambda on: ["--wait-all"], verbose=lambda on: ["-v"], quiet=lambda on: ["-q"],
        subreaper=lambda on: [], environment=lambda on: [])


def _tini():
    def exit_map(text):
        pairs = [pair.split(":") for pair in text.split(",")]
        return [word for code, to in pairs for word in ("-e", code)] if all(to == "0" for _, to in pairs) else None

    return Launcher(
        "tini", "tini", signal_to={"child": [], "group": ["-g"]}.get, exit_map=exit_map,
        parent_death=lambda name: ["-p", f"SIG{name}"], subreaper=lambda on: ["-s"], quiet=lambda on: [])


def _dumb_init():
    def rewrite(text):
        pairs = [pair.split(":") for pair in text.split(",")]
        return [word for a, b in pairs for word in ("-r", f"{_number(a)}:{_number(b)}")]

    return Launcher("dumb-init", "dumb-init", signal_to={"child": ["-c"], "group": []}.get, rewrite=rewrite,
                    subreaper=lambda on: [], quiet=lambda on: [])


def _catatonit():
    return Launcher("catatonit", "catatonit", signal_to={"child": [], "group": ["-g"]}.get,
                    subreaper=lambda on: [], quiet=lambda on: [])


LAUNCHERS = {"fdfit": _fdfit, "tini": _tini, "dumb-init": _dumb_init, "catatonit": _catatonit}


def launcher():
    """The launcher under test, its path resolved; a skip where it is not there."""
    found = LAUNCHERS[os.environ.get("FDFIT_TEST_LAUNCHER", "fdfit")]()
    found.path = support.need(found.path)
    return found


def children(pid):
    """The children of a process, over all its threads; none for one that has ended."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def stat_of(pid):
    """The fields of /proc/PID/stat after the name: state, ppid, pgrp, session, tty, tpgid ...; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def run_state(pid):
    """The state letter of a process, or "-" when it is gone."""
    fields = stat_of(pid)
    return fields[0] if fields else "-"


def gone(pid):
    return run_state(pid) in "-ZX"


class Lines:
    """Lines of a pipe or a terminal, with patience instead of a deadlock."""

    def __init__(self, fd):
        self.fd = fd
        self.text = b""

    def _more(self, end, what):
        left = end - time.monotonic()
        if left <= 0 or not select.select([self.fd], [], [], left)[0]:
            raise AssertionError(f"waited in vain for {what}; read so far: {self.text!r}")
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # a terminal without a writer: EIO
            data = b""
        self.text += data
        return data

    def line(self, what="a line", patience=None):
        """The next line without its end."""
        end = time.monotonic() + (PATIENCE if patience is None else patience)
        while b"\n" not in self.text:
            if not self._more(end, what):
                raise AssertionError(f"end of file instead of {what}; read so far: {self.text!r}")
        line, _, self.text = self.text.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def until(self, mark, patience=None):
        """All text up to and including mark, which is bytes."""
        end = time.monotonic() + (PATIENCE if patience is None else patience)
        while mark not in self.text:
            if not self._more(end, repr(mark)):
                raise AssertionError(f"end of file instead of {mark!r}; read so far: {self.text!r}")
        before, _, self.text = self.text.partition(mark)
        return before + mark

    def rest(self):
        """Everything up to the end of the file. Hanging is when nothing comes any more: a long test on a slow machine
        takes what it takes."""
        while self._more(time.monotonic() + PATIENCE, "the end of the file"):
            pass
        text, self.text = self.text, b""
        return text.decode(errors="replace")


class Running:
    """A launcher that was started by InitCase.start()."""

    def __init__(self, popen, as_pid1, stderr_path, out):
        self.popen, self.as_pid1, self.out = popen, as_pid1, out
        self._stderr_path = stderr_path

    @property
    def pid(self):
        """The launcher's number in the tests' own namespace."""
        if not self.as_pid1:
            return self.popen.pid
        return support.wait_for(lambda: children(self.popen.pid), "the namespace's PID 1", PATIENCE)[0]

    @property
    def child(self):
        """The number of the launcher's main child: the kernel lists children in the order in which they came."""
        return support.wait_for(lambda: children(self.pid), "the launcher's child", PATIENCE)[0]

    def kill(self, number):
        os.kill(self.pid, number)

    def messages(self):
        with open(self._stderr_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def end(self):
        """Wait for the launcher's end; its status as subprocess gives it (-N for a signal)."""
        try:
            return self.popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the launcher hangs; messages: {self.messages()!r}") from None


class InitCase(support.Case):
    """Starts launchers in one of two places: subclasses set as_pid1."""

    as_pid1 = False

    def setUp(self):
        super().setUp()
        self.launcher = launcher()
        if not os.access(support.helper("start-with"), os.X_OK):
            raise unittest.SkipTest("FDFIT_TEST_HELPERS names no folder of built helpers")
        if self.as_pid1:
            need_namespaces()
        # Whatever a launcher leaves behind comes to this process, which started it and so may end it.
        if _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise unittest.SkipTest("no subreaper in this kernel")
        # A helper that dies by QUIT or ABRT shall leave no core anywhere.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        self._started = []
        self.addCleanup(self._end_all)

    def _end_all(self):
        for popen in self._started:
            popen.kill()
            popen.wait()
            if popen.stdin:
                popen.stdin.close()
            if popen.stdout:
                popen.stdout.close()
        while strays := children(os.getpid()):
            for pid in strays:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def place(self, argv, settings=("group",)):
        """The argv that runs argv where this class wants it, started with settings of the helper start-with."""
        path = shutil.which(argv[0]) or argv[0]
        inner = [support.helper("start-with"), *settings, "--", path, *argv[1:]]
        return [*NAMESPACE, *inner] if self.as_pid1 else inner

    def popen(self, argv, **more):
        """subprocess.Popen whose process is ended with the test."""
        more.setdefault("env", support.clean_env())
        popen = subprocess.Popen(argv, **more)
        self._started.append(popen)
        return popen

    def start(self, argv, settings=("group",), env=None, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(),
              **options):
        """Start the launcher with a command; options are Launcher.command()'s. Its stdout is lines, stderr a file."""
        words = self.place(self.launcher.command(argv, **options), settings)
        stderr_path = self.path(f"stderr.{len(self._started)}")
        with open(stderr_path, "wb") as stderr:
            popen = self.popen(words, env=env or support.clean_env(), stdin=stdin, stdout=stdout, stderr=stderr,
                               pass_fds=pass_fds, cwd=self.dir)
        out = Lines(popen.stdout.fileno()) if popen.stdout else None
        return Running(popen, self.as_pid1, stderr_path, out)

    def strays(self):
        """Processes that a launcher should have taken in and did not: they came to this process."""
        return sorted(set(children(os.getpid())) - {popen.pid for popen in self._started})

    def start_counting(self, last=None, **more):
        """Start the launcher with `sigcount` and wait until that is ready."""
        run = self.start([support.helper("sigcount")] + ([str(last)] if last else []), **more)
        self.assertRegex(run.out.line("sigcount's start"), r"^ready \d+$")
        return run

    def signals_until_fence(self, run):
        """Send the fence, and the numbers of all signals that the counting child got before it."""
        run.kill(FENCE)
        seen = []
        while True:
            number = int(run.out.line("the fence").split()[0])
            if number == FENCE:
                return seen
            seen.append(number)

    def finish(self, argv, **more):
        """Run the launcher to its end without input: (status, output, messages)."""
        run = self.start(argv, stdin=subprocess.DEVNULL, **more)
        status = run.end()
        return status, run.out.rest(), run.messages()


@functools.lru_cache(maxsize=None)
def need_namespaces():
    """Skip where no pid namespace can be made."""
    support.need("unshare")
    probe = subprocess.run([*NAMESPACE, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if probe.returncode != 0:
        raise unittest.SkipTest(f"no pid namespace here: {probe.stderr.decode(errors='replace').strip()}")


def both_places(cases):
    """Class decorator: make two test cases of a mixin, NameAsPid1 and NameOutside, in the mixin's module."""
    module = sys.modules[cases.__module__]
    for suffix, as_pid1 in (("AsPid1", True), ("Outside", False)):
        name = cases.__name__ + suffix
        made = type(name, (cases, InitCase), {"as_pid1": as_pid1, "__module__": cases.__module__})
        setattr(module, name, made)
    return cases
