"""Init mode: what the workload is started with, and what the supervisor keeps and does meanwhile."""
import json
import os
import select
import signal
import subprocess
import tempfile
import time

import init_support
import support
import tap
from init_support import InitCase, both_places, gone, run_state
from support import wait_for

STATE = support.helper("state")


def mask(*numbers):
    return sum(1 << (number - 1) for number in numbers)


ALL = (1 << 64) - 1
#: Odd starts: blocked mask and ignored set. KILL and STOP cannot be blocked: the kernel drops them.
MASKS = {
    "nothing": (0, 0),
    "all blocked": (ALL, 0),
    "those that libc hides": (mask(32, 33, 34), mask(32, 33, 34)),
    "stop signals": (mask(20, 21, 22), 0),
    "ignored stop signals": (0, mask(20, 21, 22)),
    "ignored PIPE": (0, mask(13)),
    "nohup": (0, mask(1, 2, 3)),
    # CHLD has a test of its own; a sanitizer's runtime takes BUS, FPE and SEGV for itself.
    "nearly all ignored": (0, ALL & ~mask(7, 8, 11, 17)),
    "a mixture": (0xA5A5_5A5A_1234_8765, mask(13, 23, 28, 40, 64)),
}
#: What must differ: the process is another one, and the variable of its arguments is its own.
DIFFERENT = ("pid", "ppid", "pgid", "tpgid")


@both_places
class Start:
    """Mixin; the two classes made of it run."""

    def state(self, settings, launched, **more):
        """What `state` sees below the launcher, or with the launcher left out."""
        path = self.path("state.json")
        argv = [STATE, path]
        words = self.place(self.launcher.command(argv) if launched else argv, ("group", *settings))
        more.setdefault("stdin", subprocess.DEVNULL)
        with open(self.path("stderr"), "wb") as stderr:
            popen = self.popen(words, cwd=self.dir, stdout=more.pop("stdout", subprocess.DEVNULL), stderr=stderr, **more)
        status = popen.wait(init_support.PATIENCE)
        with open(self.path("stderr"), encoding="utf-8", errors="replace") as stderr:
            self.assertEqual(status, 0, stderr.read())
        with open(path, encoding="ascii") as file:
            found = json.load(file)
        os.unlink(path)
        return found

    def differences(self, settings=(), keys=None, **more):
        """{key: (direct, launched)} where the two differ."""
        direct, launched = self.state(settings, False, **more), self.state(settings, True, **more)
        return {key: (direct[key], launched[key]) for key in keys or direct
                if key not in DIFFERENT and direct[key] != launched[key]}

    def signal_state(self, blocked, ignored, key):
        settings = (f"block={blocked:x}", f"ignore={ignored:x}")
        return self.differences(settings, keys=[key])

    def test_blocked_mask_is_given_back(self):
        wrong = {name: self.signal_state(*sets, "SigBlk") for name, sets in MASKS.items()}
        self.assertEqual({name: found for name, found in wrong.items() if found}, {}, "(direct, launched)")

    def test_ignored_set_is_given_back(self):
        wrong = {name: self.signal_state(*sets, "SigIgn") for name, sets in MASKS.items()}
        self.assertEqual({name: found for name, found in wrong.items() if found}, {}, "(direct, launched)")

    def test_ignored_pipe_stays_ignored(self):
        # systemd ignores SIGPIPE for its services.
        found = self.state((f"ignore={mask(13):x}",), True)
        self.assertEqual(int(found["SigIgn"], 16), mask(13))

    def test_ignored_child_signal(self):
        # The kernel would reap by itself: the launcher must still learn the status, the child still ignore it.
        status, _, messages = self.finish([support.helper("die"), "exit", "9"],
                                          settings=("group", f"ignore={mask(17):x}"))
        self.assertEqual(status, 9, messages)
        self.assertEqual(self.signal_state(0, mask(17), "SigIgn"), {})

    def test_all_else_is_the_same(self):
        os.umask(0o027)
        self.addCleanup(os.umask, 0o022)
        env = support.clean_env(ODD="line\nbreak", EMPTY="", LATIN=os.fsdecode(b"\xe4"))
        keys = ["umask", "nice", "dumpable", "nofile", "cwd", "argv", "environ", "CapEff", "NoNewPrivs", "Seccomp",
                "SigCgt"]
        self.assertEqual(self.differences(keys=keys, env=env), {}, "(direct, launched)")

    def test_session_is_the_same(self):
        self.assertEqual(self.differences(keys=["sid"]), {}, "(direct, launched)")

    def test_descriptors_are_the_same(self):
        reader, writer = os.pipe()
        high = os.dup2(reader, 500)
        try:
            for settings in ((), ("close=0",), ("close=1",), ("close=2",), ("close=0", "close=1", "close=2")):
                wrong = self.differences(settings, keys=["fds"], pass_fds=(reader, high))
                self.assertEqual(wrong, {}, f"{settings}: (direct, launched)")
        finally:
            for fd in (reader, writer, high):
                os.close(fd)

    def test_closed_standard_descriptors(self):
        for closed in ("0", "1", "2", "0 1", "0 2", "1 2", "0 1 2"):
            settings = ("group", *(f"close={fd}" for fd in closed.split()))
            status, _, messages = self.finish([support.helper("die"), "exit", "9"], settings=settings)
            self.assertEqual(status, 9, f"{closed}: {messages}")

    def test_forwards_with_all_standard_descriptors_closed(self):
        # The first files that the launcher opens must not become its 0 to 2.
        trace = self.path("signals")
        script = f"exec {support.helper('sigcount')} 30 >{trace}"
        run = self.start(["sh", "-c", script], settings=("group", "close=0", "close=1", "close=2"))

        def lines():
            with open(trace, encoding="ascii") as file:
                return file.read().splitlines()

        wait_for(lambda: os.path.exists(trace) and lines(), "sigcount to be ready", init_support.PATIENCE)
        run.kill(signal.SIGUSR1)
        wait_for(lambda: len(lines()) == 2, "USR1", init_support.PATIENCE)
        run.kill(30)
        self.assertEqual(run.end(), 0, run.messages())
        self.assertEqual([line.split()[0] for line in lines()[1:]], ["10", "30"])

    def test_any_stdin(self):
        reader, writer = os.pipe()
        with tempfile.TemporaryFile() as file, open("/dev/null", "rb") as null, open("/dev/null", "wb") as write_only:
            for what, stdin in {"null": null, "pipe": reader, "file": file, "only for writing": write_only}.items():
                run = self.start([support.helper("die"), "exit", "9"], stdin=stdin)
                self.assertEqual(run.end(), 9, f"{what}: {run.messages()}")
        os.close(reader)
        os.close(writer)

    def variables_of(self, names, value=None):
        """The child's own number and its variables of these names, which name the launcher at the start or are value."""
        settings = () if value else tuple(f"own-pid={name}" for name in names)
        env = support.clean_env(**{name: value for name in names}) if value else support.clean_env()
        found = self.state(settings, True, env=env)
        variables = dict(pair.split("=", 1) for pair in found["environ"])
        return found["pid"], [variables.get(name) for name in names]

    def test_listen_pid_is_rewritten(self):
        pid, values = self.variables_of(["LISTEN_PID"])
        self.assertEqual(values, [str(pid)])

    def test_watchdog_pid_is_rewritten(self):
        pid, values = self.variables_of(["WATCHDOG_PID"])
        self.assertEqual(values, [str(pid)])

    def test_systemd_exec_pid_is_rewritten(self):
        pid, values = self.variables_of(["SYSTEMD_EXEC_PID"])
        self.assertEqual(values, [str(pid)])

    def test_number_of_another_process_is_left_alone(self):
        _, values = self.variables_of(["LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"], "4000123")
        self.assertEqual(values, ["4000123"] * 3)


@both_places
class Supervisor:
    """Mixin; the two classes made of it run. What the launcher keeps while its child works."""

    # The pipe is a FIFO that start-with opens: unshare, which waits outside the namespace, must not hold it too.
    def fifo(self):
        os.mkfifo(self.path("fifo"))
        return self.path("fifo")

    def expect_end_of_file(self, setting, script):
        path = self.fifo()
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        run = self.start(["sh", "-c", script], settings=("group", f"write={setting}:{path}"))
        # The line comes from the child, so the pipe is in use: no end of file before its time.
        self.await_reading(reader, b"up\n")
        run.popen.stdin.close()
        self.assertEqual(init_support.Lines(reader).rest(), "")
        self.assertFalse(gone(run.child))
        self.assertFalse(gone(run.pid))

    def await_reading(self, reader, want):
        def read():
            try:
                return os.read(reader, len(want))
            except BlockingIOError:
                return b""
        self.assertEqual(wait_for(read, "the child's line", init_support.PATIENCE), want)

    def test_inherited_pipe_is_let_go(self):
        # The child closes its own copy: the reader must see the end although the launcher lives.
        self.expect_end_of_file("9", "echo up >&9; read _; exec 9>&-; exec sleep 1000")

    def test_stdout_is_let_go(self):
        self.expect_end_of_file("1", "echo up; read _; exec sleep 1000 >/dev/null")

    def test_stdin_is_let_go(self):
        # A writer must see that nobody reads any more when the child has closed its end.
        path = self.fifo()
        writer = os.open(path, os.O_RDWR)  # a reader too, until the child has opened it
        run = self.start(["sh", "-c", "echo up; read _; exec </dev/null; echo closed; exec sleep 1000"],
                         settings=("group", f"read=0:{path}"), stdin=subprocess.DEVNULL)
        self.assertEqual(run.out.line(), "up")
        only_writer = os.open(path, os.O_WRONLY)
        os.close(writer)
        self.addCleanup(os.close, only_writer)
        os.write(only_writer, b"\n")
        self.assertEqual(run.out.line(), "closed")
        poll = select.poll()
        poll.register(only_writer, 0)
        self.assertTrue(poll.poll(init_support.PATIENCE * 1000), "somebody still holds the reading end")
        self.assertFalse(gone(run.child))

    def test_works_in_the_root_folder(self):
        run = self.start_counting()
        wait_for(lambda: os.readlink(f"/proc/{run.pid}/cwd") == "/", "the launcher to leave the folder",
                 init_support.PATIENCE)
        self.assertEqual(os.readlink(f"/proc/{run.child}/cwd"), self.dir)

    def test_keeps_its_own_limits(self):
        run = self.start_counting(nofile="256:512")
        self.assertEqual(support.limits_of(run.pid), support.limits_of())
        self.assertEqual(support.limits_of(run.child), (256, 512))


class Idle(InitCase):
    """Both places side by side, so that the five seconds are waited for once."""

    def trace(self, run):
        """strace on a launcher that sleeps, attached for certain when this returns; it writes to a file."""
        path = self.path(f"strace.{run.pid}")
        tracer = self.popen(["strace", "-f", "-o", path, "-p", str(run.pid)], stderr=subprocess.PIPE, stdout=-1)
        attached = init_support.Lines(tracer.stderr.fileno())
        self.addCleanup(tracer.stderr.close)
        self.assertIn("attached", attached.line("strace to attach"))
        # Let the call that strace interrupted begin anew before the count starts.
        wait_for(lambda: os.path.getsize(path) > 0, "strace to see the sleeping call", init_support.PATIENCE)
        return tracer, path

    def started(self, as_pid1):
        self.as_pid1 = as_pid1
        run = self.start_counting()
        wait_for(lambda: run_state(run.pid) == "S", "the launcher to sleep", init_support.PATIENCE)
        return run

    def test_five_idle_seconds_without_a_system_call(self):
        support.need("strace")
        init_support.need_namespaces()
        runs = [self.started(True), self.started(False)]
        traces = [self.trace(run) for run in runs]
        before = [self.calls(path) for _, path in traces]
        time.sleep(5)  # the silence itself is what is looked at
        after = [self.calls(path) for _, path in traces]
        for tracer, _ in traces:
            tracer.send_signal(signal.SIGINT)
            tracer.wait(init_support.PATIENCE)
        for had, has, where in zip(before, after, ("as PID 1", "outside")):
            self.assertEqual(has[len(had):], [], where)
        # It was asleep, not dead: two signals go through.
        for run in runs:
            for number in (10, 12):
                run.kill(number)
                self.assertEqual(int(run.out.line().split()[0]), number)

    @staticmethod
    def calls(path):
        """Finished lines of a trace: each is a call that was made."""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")[:-1]


if __name__ == "__main__":
    tap.main()
