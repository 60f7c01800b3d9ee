"""Init mode on a terminal: a real pty, as the session's leader, as PID 1 and below an interactive shell."""
import fcntl
import os
import shlex
import signal
import struct
import subprocess
import termios

import init_support
import support
import tap
from init_support import FENCE, InitCase, both_places, children, gone, run_state, stat_of
from support import wait_for

PROMPT = b"READY> "


def foreground(pid):
    """The foreground group of the terminal of a process, and the process's own group, as the kernel tells them."""
    fields = stat_of(pid)
    return int(fields[5]), int(fields[2])


class Terminal:
    """Mixin: a pty for each test. The launcher gets the slave; the master is the keyboard and the screen."""

    def setUp(self):
        super().setUp()
        self.master, self.slave = os.openpty()
        self.addCleanup(self.hang_up)
        # Wide enough that no line is broken by the shell.
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 500, 0, 0))
        self.screen = init_support.Lines(self.master)

    def press(self, data):
        os.write(self.master, data)

    def close_slave(self):
        if self.slave >= 0:
            os.close(self.slave)
        self.slave = -1

    def hang_up(self):
        self.close_slave()
        if self.master >= 0:
            os.close(self.master)
        self.master = -1


@both_places
class Leading(Terminal):
    """Mixin; the two classes made of it run. The launcher leads the terminal's session, as a container's PID 1 does."""

    def start_on_terminal(self, argv, **options):
        return self.start(argv, settings=("terminal",), stdin=self.slave, **options)

    def counting_on_terminal(self, **options):
        run = self.start_on_terminal([support.helper("sigcount")], **options)
        self.assertRegex(run.out.line("sigcount's start"), r"^ready \d+$")
        return run

    def test_foreground_group_is_the_childs(self):
        run = self.counting_on_terminal()
        front, own = foreground(run.child)
        self.assertEqual(front, own)
        self.assertNotEqual(own, int(stat_of(run.pid)[2]), "a group of its own")

    def test_keys_reach_the_child_once(self):
        run = self.counting_on_terminal()
        for key, number in ((b"\x03", 2), (b"\x1c", 3), (b"\x1a", 20)):
            self.press(key)
            self.assertEqual(int(run.out.line("the key's signal").split()[0]), number)
            self.assertEqual(self.signals_until_fence(run), [], key)

    def test_interrupt_ends_the_child_first(self):
        script = 'trap "echo interrupted; exit 4" INT; echo up; while :; do sleep 0.01; done'
        run = self.start_on_terminal(["sh", "-c", script])
        self.assertEqual(run.out.line(), "up")
        self.press(b"\x03")
        self.assertEqual(run.out.line(), "interrupted")
        self.assertEqual(run.end(), 4, run.messages())

    def test_new_window_size_reaches_the_child_once(self):
        run = self.counting_on_terminal()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
        self.assertEqual(int(run.out.line("WINCH").split()[0]), signal.SIGWINCH)
        self.assertEqual(self.signals_until_fence(run), [])

    def test_child_can_read_and_write_the_terminal(self):
        run = self.start_on_terminal(["sh", "-c", "read line </dev/tty; echo $line"])
        self.press(b"hello\n")
        self.assertEqual(run.out.line(), "hello")
        self.assertEqual(run.end(), 0, run.messages())

    def test_no_stray_signal_at_the_start(self):
        self.assertEqual(self.signals_until_fence(self.counting_on_terminal()), [])

    def test_hang_up_delivers_hup_once_and_nothing_else(self):
        run = self.counting_on_terminal()
        self.hang_up()
        self.assertEqual(int(run.out.line("HUP").split()[0]), signal.SIGHUP)
        self.assertEqual(self.signals_until_fence(run), [])

    def test_terminal_of_another_session_is_tolerated(self):
        # stdin is a terminal, but not ours: ENOTTY for every question about groups.
        run = self.start([support.helper("die"), "exit", "9"], stdin=self.slave)
        self.assertEqual(run.end(), 9, run.messages())


class Shell(Terminal, InitCase):
    """Below an interactive bash, which does the job control."""

    def setUp(self):
        super().setUp()
        bash = support.need("bash")
        env = support.clean_env(PS1=PROMPT.decode(), TERM="dumb", HISTFILE="")
        argv = [support.helper("start-with"), "terminal", "--", bash, "--norc", "--noprofile", "--noediting", "-i"]
        self.shell = self.popen(argv, env=env, cwd=self.dir, stdin=self.slave, stdout=self.slave, stderr=self.slave)
        self.close_slave()
        self.screen.until(PROMPT)

    def job(self, argv):
        return shlex.join(self.launcher.command(argv, quiet=True))

    def type(self, line):
        self.press(line.encode() + b"\n")

    def status(self):
        """$? of the shell, asked at its prompt."""
        self.type("echo st''atus=$?")
        self.screen.until(b"status=")
        return int(self.screen.until(PROMPT).split()[0])

    def start_cat(self):
        """A launcher in the foreground whose child echoes lines; (launcher, child)."""
        self.type(self.job(["sh", "-c", "echo u''p; exec cat"]))
        self.screen.until(b"up\r\n")
        pid = wait_for(lambda: children(self.shell.pid), "the job", init_support.PATIENCE)[0]
        child = wait_for(lambda: children(pid), "its child", init_support.PATIENCE)[0]
        return pid, child

    def expect_echo(self, word):
        # Once from the terminal's echo, once from cat.
        self.type(word)
        self.screen.until(word.encode())
        self.screen.until(word.encode())

    def wait_states(self, pids, letters):
        wait_for(lambda: all(run_state(pid) in letters for pid in pids), f"launcher and child in {letters}",
                 init_support.PATIENCE)

    def test_child_in_the_foreground(self):
        _, child = self.start_cat()
        self.expect_echo("hello")
        front, own = foreground(child)
        self.assertEqual(front, own)

    def test_child_stays_in_the_jobs_group(self):
        pid, child = self.start_cat()
        self.assertEqual(stat_of(child)[2], stat_of(pid)[2])

    def test_interrupt_ends_the_job(self):
        pid, child = self.start_cat()
        self.press(b"\x03")
        self.screen.until(PROMPT)
        self.assertEqual(self.status(), 130)
        self.assertTrue(gone(pid) and gone(child))

    def test_interrupt_reaches_the_child_once(self):
        self.type(self.job([support.helper("sigcount"), str(FENCE)]))
        self.screen.until(b"ready ")
        self.screen.line()
        pid = children(self.shell.pid)[0]
        # A second copy may be merged with the first while that is pending: not twenty times in a row.
        for _ in range(20):
            self.press(b"\x03")
            # The kernel echoes ^C, and the child reports the number. Nothing in between.
            self.assertEqual(self.screen.until(b"^C"), b"^C")
            self.assertRegex(self.screen.line("INT"), "^2 ")
        os.kill(pid, FENCE)
        left = self.screen.until(PROMPT).decode().split("\r\n")
        self.assertRegex(left[0], f"^{FENCE} ", "the signal came again from the launcher")

    def test_stop_then_foreground_then_interrupt(self):
        pid, child = self.start_cat()
        for word in ("first", "second"):
            self.press(b"\x1a")
            self.screen.until(b"Stopped")
            self.screen.until(PROMPT)
            self.wait_states((pid, child), "T")
            self.type("fg")
            self.wait_states((pid, child), "S")
            self.expect_echo(word)
        self.press(b"\x03")
        self.screen.until(PROMPT)
        self.assertEqual(self.status(), 130)

    def test_stop_then_background_then_foreground(self):
        self.type(self.job(["sh", "-c", "echo u''p; exec sleep 1000"]))
        self.screen.until(b"up\r\n")
        pid = children(self.shell.pid)[0]
        child = children(pid)[0]
        self.press(b"\x1a")
        self.screen.until(b"Stopped")
        self.screen.until(PROMPT)
        self.wait_states((pid, child), "T")
        self.type("bg")
        self.screen.until(PROMPT)
        self.wait_states((pid, child), "S")
        self.assertNotEqual(*foreground(child), "in the background")
        self.type("fg")
        wait_for(lambda: foreground(child)[0] == foreground(child)[1], "the foreground", init_support.PATIENCE)
        self.press(b"\x03")
        self.screen.until(PROMPT)
        self.assertEqual(self.status(), 130)

    def test_started_in_the_background_takes_nothing(self):
        self.type(self.job(["sleep", "1000"]) + " & echo st''arted")
        self.screen.until(b"started\r\n")
        self.screen.until(PROMPT)
        pid = wait_for(lambda: children(self.shell.pid), "the job", init_support.PATIENCE)[0]
        wait_for(lambda: children(pid), "its child", init_support.PATIENCE)
        wait_for(lambda: run_state(pid) == "S", "the launcher to sleep", init_support.PATIENCE)
        self.assertEqual(*foreground(self.shell.pid), "the shell keeps the terminal")
        self.assertEqual(self.status(), 0)

    def test_first_of_a_pipe_takes_nothing_from_the_second(self):
        second = "read a; read line </dev/tty; echo go''t=$line"
        self.type(f"{self.job(['sh', '-c', 'echo up; exec sleep 1000'])} | sh -c {shlex.quote(second)}")
        # The second has the line "up" when it turns to the terminal: by then the launcher has done what it does.
        jobs = wait_for(lambda: len(children(self.shell.pid)) == 2 and children(self.shell.pid), "both jobs",
                        init_support.PATIENCE)
        wait_for(lambda: run_state(jobs[1]) in "ST", "the second to wait", init_support.PATIENCE)
        self.type("word")
        self.screen.until(b"got=word")
        self.press(b"\x03")
        self.screen.until(PROMPT)
        wait_for(lambda: gone(jobs[0]), "the first to end", init_support.PATIENCE)

    def test_second_of_a_pipe_works_too(self):
        self.type("echo from-the-first | " + self.job(["sed", "s/from/got/"]))
        self.screen.until(b"got-the-first")
        self.screen.until(PROMPT)
        self.assertEqual(self.status(), 0)


class HangUpBelowShell(Terminal, InitCase):
    """The session's leader is a shell without job control; the launcher is in its group and in the foreground."""

    def test_hang_up_ends_the_child(self):
        argv = [support.helper("start-with"), "terminal", "--", "/bin/sh", "-c",
                '"$@"; exit 0', "sh", *self.launcher.command(["sh", "-c", "echo up; exec sleep 1000"], quiet=True)]
        shell = self.popen(argv, stdin=self.slave, stdout=subprocess.PIPE)
        self.assertEqual(init_support.Lines(shell.stdout.fileno()).line(), "up")
        pid = children(shell.pid)[0]
        child = children(pid)[0]
        self.hang_up()
        wait_for(lambda: gone(shell.pid) and gone(child), "shell and child to end", init_support.PATIENCE)


if __name__ == "__main__":
    tap.main()
