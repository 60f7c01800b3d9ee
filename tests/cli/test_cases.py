"""Faults that people reported of real programs, and the cure: each runs as inherited and under fdfit -n 1024.

What is asserted is a count of system calls on descriptors that are not open, a limit, a message or a size of
memory; never a time. SoftCures: a lower soft limit is enough. HardCures: the hard limit must be lowered too.
NeedsHigh: do not lower it.
"""
import contextlib
import errno
import os
import pwd
import re
import resource
import signal
import socket
import subprocess
import sys
import unittest

import support
import tap
import victim_programs as victims

#: The limit that fdfit is asked for, and how it is asked: both limits, or the soft one alone.
LOW = 1024
BOTH, SOFT_ONLY = f"{LOW}", f"{LOW}:"
#: What a program inherits without fdfit. Bounded: strace on a loop to a million takes a minute.
HIGH = min(support.limits_of()[1] if support.limits_of()[1] != -1 else sys.maxsize, 20000)
#: A loop misses what is open already and what a program leaves out; the rest of a program adds a few calls.
SLACK = 256

#: What Python 2 programs did for each command; the limit was read when subprocess was imported.
POPEN = 'import subprocess, sys; sys.exit(subprocess.Popen(["true"], close_fds=True).wait())'
#: The same in a service that has been running for a while: it waits for a line before its first command.
LIVE_POPEN = """
import os, subprocess, sys
sys.stdout.write("%d\\n" % os.getpid())
sys.stdout.flush()
sys.stdin.readline()
sys.exit(subprocess.Popen(["true"], close_fds=True).wait())
"""
#: cwd keeps Python 3.13 from posix_spawn(3), which has no close loop.
POPEN3 = 'import subprocess, sys; sys.exit(subprocess.Popen(["true"], close_fds=True, cwd="/").wait())'

JAVA_PARENT = """
public class Parent {
    public static void main(String[] command) throws Exception {
        System.exit(new ProcessBuilder(command).inheritIO().start().waitFor());
    }
}
"""

#: Opens descriptors up to number 1500, as a busy server has them, then waits for the last with select().
SELECT_C = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/time.h>

int main(void)
{
    struct timeval now = {0};
    fd_set set;
    int fd;

    do {
        fd = open("/dev/null", O_RDONLY);
        if (fd < 0) {
            perror("open");
            return 1;
        }
    } while (fd < 1500);
    FD_ZERO(&set);
    FD_SET(fd, &set);
    return select(fd + 1, &set, NULL, NULL, &now) < 0;
}
"""
SELECT_PY = """
import os, select
while True:
    fd = os.open("/dev/null", os.O_RDONLY)
    if fd >= 1500:
        break
select.select([fd], [], [], 0)
"""

RPM_SPEC = """
Name: fdfit-case
Version: 1
Release: 1
Summary: A package with a script and no files
License: MIT
BuildArch: noarch
%description
A package with a script and no files.
%post
:
%files
"""


def fdfit(limit):
    """argv prefix of the launcher under test."""
    return [support.FDFIT, "-q", "-n", limit, "--"]


def failed_calls(text):
    """Lines of strace for close or fcntl on a descriptor that is not open."""
    return len(re.findall(r"\b(?:close|fcntl)(?:\(| resumed>).* = -1 EBADF\b", text))


class ProgramCase(support.Case):
    """Starting real programs with a given inherited limit, counting what they do, ending them."""

    def setUp(self):
        super().setUp()
        if HIGH < 4 * LOW:
            self.skipTest(f"the hard limit of {HIGH} is too low to show a difference to {LOW}")

    def start(self, *argv, soft=HIGH, **more):
        """Start argv in a session of its own with the limits soft:HIGH; it is killed when the test ends."""
        def prepare():
            # strace and its tracee take turns: on two processors each call would cost a wake-up of the other.
            os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, HIGH))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        for stream in ("stdin", "stdout", "stderr"):
            more.setdefault(stream, subprocess.DEVNULL)
        process = subprocess.Popen(
            argv, env=support.clean_env(LC_ALL="C"), text=True, errors="surrogateescape", cwd=self.dir,
            preexec_fn=prepare, start_new_session=True, **more)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """Kill what is left of a session, unless it was waited for: its number may be another's then."""
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        with process:
            pass

    def run_to_end(self, *argv, **more):
        """Run argv to its end; the result has returncode, stdout and stderr."""
        process = self.start(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        out, err = process.communicate(timeout=support.PATIENCE)
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def traced(self, *argv, refuse=None):
        """argv under strace, and the file that gets its failed calls; `refuse` is a call that gets EPERM."""
        log = self.path("strace")
        calls = "close,fcntl" + (f",{refuse}" if refuse else "")
        inject = [f"--inject={refuse}:error=EPERM"] if refuse else []
        strace = [*victims.strace(), "-f", "--seccomp-bpf", "-Z", "-e", "signal=none", "-e", f"trace={calls}"]
        return [*strace, *inject, "-o", log, *argv], log

    def count(self, *argv, soft=HIGH, refuse=None):
        """Run argv to its successful end and count its failed closes and fcntls, children's included."""
        command, log = self.traced(*argv, refuse=refuse)
        result = self.run_to_end(*command, soft=soft)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        with open(log, encoding="utf-8", errors="replace") as text:
            return failed_calls(text.read())

    def assert_counts(self, expected):
        """Assert (what was run, its count, the limit that explains the count) and show them in the output."""
        figures = ", ".join(f"{what} {count}" for what, count, _ in expected)
        print(f"# {self._testMethodName}: {figures}", flush=True)
        for what, count, limit in expected:
            near = limit - SLACK <= count <= limit + SLACK
            self.assertTrue(near, f"{what}: {count} calls, not about {limit}")

    def assert_cured_by_soft(self, *argv, **more):
        """The loop follows the soft limit, however high the hard one stays."""
        self.assert_counts([
            ("inherited", self.count(*argv, **more), HIGH),
            ("soft", self.count(*fdfit(SOFT_ONLY), *argv, **more), LOW),
            ("both", self.count(*fdfit(BOTH), *argv, **more), LOW)])

    def assert_cured_by_hard(self, *argv, **more):
        """The loop reaches the hard limit, so a lower soft one alone changes nothing."""
        self.assert_counts([
            ("inherited", self.count(*argv, **more), HIGH),
            ("soft", self.count(*fdfit(SOFT_ONLY), *argv, **more), HIGH),
            ("both", self.count(*fdfit(BOTH), *argv, **more), LOW)])

    def connected(self, process, name, log=None):
        """Wait until the server listens on the socket `name`; returns the connection."""
        def attempt():
            if process.poll() is not None:
                self.fail(f"{process.args} ended with {process.returncode}: {self.read(log) if log else ''}")
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(support.PATIENCE)
            try:
                connection.connect(self.path(name))
            except OSError:
                connection.close()
                return None
            self.addCleanup(connection.close)
            return connection

        return support.wait_for(attempt, f"a connection to {name}")

    def read(self, name):
        with contextlib.suppress(FileNotFoundError):
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        return ""

    def stop(self, process):
        """End a server that this test started and wait for it: the next run uses the same socket."""
        process.terminate()
        process.wait(timeout=support.PATIENCE)


class Counting(unittest.TestCase):
    def test_failed_calls(self):
        self.assertEqual(3, failed_calls(
            "12 close(3)                         = -1 EBADF (Bad file descriptor)\n"
            "12 <... close resumed>)             = -1 EBADF (Bad file descriptor)\n"
            "12 fcntl(4, F_SETFD, FD_CLOEXEC)    = -1 EBADF (Bad file descriptor)\n"
            "12 close(5)                         = 0\n"
            "12 close(5)                         = -1 EIO (Input/output error)\n"
            "12 dup2(7, 8)                       = -1 EBADF (Bad file descriptor)\n"
            "12 close_range(3, 4294967295, 0)    = -1 EPERM (Operation not permitted) (INJECTED)\n"
            "12 +++ exited with 0 +++\n"))


class SoftCures(ProgramCase):
    def test_python2_popen(self):
        self.assert_cured_by_soft(support.python2(), "-c", POPEN)

    def test_python2_live_prlimit_is_too_late(self):
        """The limit is kept at import: only a restart under a lower one helps a service that is running."""
        command, log = self.traced(support.python2(), "-c", LIVE_POPEN)
        process = self.start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pid = int(process.stdout.readline())
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (LOW, HIGH))
        self.assertEqual(support.limits_of(pid), (LOW, HIGH))
        process.communicate("go\n", timeout=support.PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assert_counts([("prlimit after import", failed_calls(self.read(log)), HIGH)])

    def test_python3_without_proc_and_close_range(self):
        """An engine's seccomp profile and a root without /proc bring the loop back in a Python of today."""
        python = [*victims.without_proc(), sys.executable, "-S"]
        self.assert_cured_by_soft(*python, "-c", POPEN3, refuse="close_range")

    def test_fakeroot_chown(self):
        file = self.write("file", "")
        self.assert_cured_by_soft(*victims.fakeroot(), "chown", "root", file)

    def test_monit_version(self):
        self.assert_cured_by_soft(*victims.program("monit"), "-V")

    def test_lsof_pid(self):
        self.assert_cured_by_soft(*victims.program("lsof"), "-w", "-p", str(os.getpid()))

    def test_slapd_memory(self):
        """slapd allocates a record for each descriptor that it could ever have."""
        memory = {"inherited": self.slapd_memory([]), "soft": self.slapd_memory(fdfit(SOFT_ONLY)),
                "both": self.slapd_memory(fdfit(BOTH))}
        record = (memory["inherited"] - memory["both"]) / (HIGH - LOW)
        print(f"# slapd, resident bytes: {memory}, {record:.0f} a descriptor", flush=True)
        self.assertGreater(record, 400)
        self.assertLess(record, 2000)
        self.assertLess(abs(memory["soft"] - memory["both"]), 200 * (HIGH - LOW))

    def slapd_memory(self, prefix):
        """Resident anonymous bytes, which leave unused stacks out, of a slapd that has answered a request."""
        config = self.write("slapd.conf", f"pidfile {self.path('pid')}\nargsfile {self.path('args')}\n")
        url = "ldapi://" + self.path("ldapi").replace("/", "%2f")
        # -d keeps it in the foreground, 0 keeps it quiet.
        process = self.start(*prefix, *victims.program("slapd"), "-d", "0", "-f", config, "-h", url)
        connection = self.connected(process, "ldapi")
        # RFC 4511: message 1, anonymous simple bind of version 3; the answer has application tag 1.
        connection.sendall(bytes.fromhex("300c 020101 6007 020103 0400 8000"))
        self.assertEqual(connection.recv(64)[5:6], b"\x61")
        with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
            memory = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))
        connection.close()
        self.stop(process)
        return memory

    def test_select_fortify(self):
        """glibc ends a program whose descriptor is past FD_SETSIZE; at 1024 it gets an error to handle."""
        server = victims.fortified(self.write("select.c", SELECT_C), self.path("select"))
        inherited = self.run_to_end(*server)
        self.assertEqual(inherited.returncode, -signal.SIGABRT, inherited.stderr)
        # "buffer overflow detected", or in some releases a text about FD_SETSIZE.
        self.assertRegex(inherited.stderr, r"\*\*\* .+ \*\*\*: terminated")
        fitted = self.run_to_end(*fdfit(BOTH), *server)
        self.assertEqual((fitted.returncode, fitted.stderr), (1, f"open: {os.strerror(errno.EMFILE)}\n"))

    def test_select_python(self):
        inherited = self.run_to_end(sys.executable, "-c", SELECT_PY)
        self.assertEqual(inherited.returncode, 1)
        self.assertRegex(inherited.stderr, r"\nValueError: filedescriptor out of range in select\(\)")
        fitted = self.run_to_end(*fdfit(BOTH), sys.executable, "-c", SELECT_PY)
        self.assertEqual(fitted.returncode, 1)
        self.assertRegex(fitted.stderr, rf"\nOSError: \[Errno {errno.EMFILE}\]")


class HardCures(ProgramCase):
    def test_rpm_script_without_proc(self):
        package = self.rpm_package()
        install = [*victims.rpm("rpm"), "-i", "--nodeps", "--define", f"_tmppath {self.dir}"]

        def installed(run, prefix, limit):
            """Count of one installation into a database of its own."""
            count = self.count(*prefix, *install, "--dbpath", self.path(run), package)
            query = self.run_to_end(*victims.rpm("rpm"), "-q", "--dbpath", self.path(run), "fdfit-case")
            self.assertEqual(query.returncode, 0, query.stdout + query.stderr)
            return run, count, limit

        hidden = victims.without_proc()
        self.assert_counts([
            installed("with-proc", [], 0),
            installed("inherited", hidden, HIGH),
            installed("soft", [*fdfit(SOFT_ONLY), *hidden], HIGH),
            installed("both", [*fdfit(BOTH), *hidden], LOW)])

    def rpm_package(self):
        """Build a package whose %post makes rpm start a shell."""
        spec = self.write("case.spec", RPM_SPEC)
        built = self.run_to_end(
            *victims.rpm("rpmbuild"), "-bb", "--dbpath", self.path("build-db"),
            "--define", f"_topdir {self.dir}", "--define", f"_tmppath {self.dir}",
            "--define", f"_rpmdir {self.dir}", "--define", "_build_name_fmt case.rpm", spec)
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        return self.path("case.rpm")

    def test_java_parent_python2_child(self):
        """Java raises its soft limit to the hard one and its child inherits that."""
        parent, child = self.java_parent(), [support.python2(), "-c", POPEN]
        unraised = [*parent[:-1], "-XX:-MaxFDLimit", parent[-1]]
        self.assert_counts([
            ("inherited 1024", self.count(*parent, *child, soft=LOW), HIGH),
            ("soft", self.count(*fdfit(SOFT_ONLY), *parent, *child), HIGH),
            ("soft, -MaxFDLimit", self.count(*fdfit(SOFT_ONLY), *unraised, *child), LOW),
            ("both", self.count(*fdfit(BOTH), *parent, *child), LOW)])

    def test_java_parent_monit_child(self):
        """The same where there is no Python 2."""
        self.assert_cured_by_hard(*self.java_parent(), *victims.program("monit"), "-V")

    def java_parent(self):
        """argv prefix of a Java program that runs a command; the source is its last word."""
        source = self.write("Parent.java", JAVA_PARENT)
        return [*victims.java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", source]

    def test_xinetd_start(self):
        self.assert_counts([
            ("inherited", self.xinetd([]), HIGH),
            ("soft", self.xinetd(fdfit(SOFT_ONLY)), HIGH),
            ("both", self.xinetd(fdfit(BOTH)), LOW)])

    def xinetd(self, prefix):
        """Count of an xinetd without services, ended when it says that it works."""
        log, config = self.write("xinetd.log", ""), self.write("xinetd.conf", "defaults\n{\n}\n")
        command, calls = self.traced(
            *prefix, *victims.program("xinetd"), "-dontfork", "-f", config, "-filelog", log, "-pidfile",
            self.path("xinetd.pid"))
        process = self.start(*command)

        def working():
            if process.poll() is not None:
                self.fail(f"xinetd ended with {process.returncode}: {self.read(log)}")
            return re.search(r"xinetd\[(\d+)\]: NOTICE: Started working", self.read(log))

        os.kill(int(support.wait_for(working, "xinetd to start")[1]), signal.SIGTERM)
        process.wait(timeout=support.PATIENCE)
        return failed_calls(self.read(calls))

    def test_redis_undoes_a_soft_limit(self):
        """redis raises its soft limit to 10,032 and its hard limit ends there; it says when it cannot."""
        if HIGH <= 10032:
            self.skipTest(f"the hard limit of {HIGH} does not let redis raise its own to 10032")
        self.assertEqual(self.redis(fdfit(SOFT_ONLY)), (10032, 10032))
        self.assertNotIn("maxclients has been reduced", self.read("redis.log"))
        self.assertEqual(self.redis(fdfit(BOTH)), (LOW, LOW))
        self.assertIn(f"maxclients has been reduced to {LOW - 32}", self.read("redis.log"))

    def redis(self, prefix):
        """Limits of a redis that serves."""
        self.write("redis.log", "")
        process = self.start(
            *victims.without_sys_resource(), *prefix, *victims.program("redis-server"),
            "--port", "0", "--save", "", "--unixsocket", self.path("redis"),
            "--dir", self.dir, "--logfile", self.path("redis.log"))
        connection = self.connected(process, "redis", "redis.log")
        connection.sendall(b"PING\r\n")
        self.assertEqual(connection.recv(64), b"+PONG\r\n")
        limits = support.limits_of(process.pid)
        connection.close()
        self.stop(process)
        return limits


class NeedsHigh(ProgramCase):
    """What goes wrong when somebody lowers the limit of a program that was given a high one on purpose."""

    #: Above what fdfit leaves, below what is inherited, with room for what the program adds itself.
    WANTED = HIGH - 1000

    def test_memcached_exits(self):
        name = pwd.getpwuid(os.geteuid()).pw_name
        server = [*victims.program("memcached"), "-u", name, "-c", str(self.WANTED),
                  "-s", self.path("memcached")]
        raw = victims.without_sys_resource()
        process = self.start(*raw, *server)
        connection = self.connected(process, "memcached")
        connection.sendall(b"version\r\n")
        self.assertTrue(connection.recv(64).startswith(b"VERSION "))
        connection.close()
        self.stop(process)
        fitted = self.run_to_end(*raw, *fdfit(BOTH), *server)
        self.assertEqual(fitted.returncode, os.EX_OSERR)
        self.assertIn("failed to set rlimit for open files", fitted.stderr)

    def test_nginx_alert(self):
        inherited, fitted = self.nginx([]), self.nginx(fdfit(BOTH))
        alert = rf"\[alert\] .*setrlimit\(RLIMIT_NOFILE, {self.WANTED}\) failed \({errno.EPERM}: "
        self.assertNotRegex(inherited, alert)
        self.assertRegex(fitted, alert)

    def nginx(self, prefix):
        """What nginx logged until its worker answered a request: without its limit it goes on."""
        log = self.write("nginx.log", "")
        temporary = "".join(f"{module}_temp_path {self.path(module)};\n"
                            for module in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;\n" if os.geteuid() == 0 else ""
        config = self.write("nginx.conf", f"""
            daemon off; {user} worker_processes 1; worker_rlimit_nofile {self.WANTED};
            error_log {log} notice; pid {self.path('nginx.pid')};
            events {{ worker_connections 64; }}
            http {{ access_log off; {temporary} server {{ listen unix:{self.path('nginx')}; return 204; }} }}
        """)
        process = self.start(*victims.without_sys_resource(), *prefix, *victims.program("nginx"),
                             "-p", self.dir, "-e", log, "-c", config)
        connection = self.connected(process, "nginx", "nginx.log")
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        self.assertTrue(connection.recv(256).startswith(b"HTTP/1.1 204"))
        connection.close()
        self.stop(process)
        return self.read(log)


if __name__ == "__main__":
    tap.main()
