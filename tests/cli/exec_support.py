"""What the tests of exec mode share: the limits that they start from, and starting things through the launcher."""
import functools
import json
import os
import shutil
import struct
import unittest

import support

#: The pair that every test here starts from, low enough to be had anywhere.
INHERITED = (2000, 4000)
WAS = "nofile 2000:4000"
CAP_SYS_RESOURCE = 24
HARD_REFUSED = ("the hard limit is 4000, and raising it needs CAP_SYS_RESOURCE on the host itself (a user namespace's "
                "does not count); lower the limit, or set when-denied = clamp")


def nr_open():
    with open("/proc/sys/fs/nr_open", encoding="ascii") as file:
        return int(file.read())


def nr_open_refused(limit):
    return (f"fdfit: nofile {limit} can't be had: fs.nr_open is {nr_open()}, and no privilege passes it; lower the "
            "limit, raise it with sysctl, or set when-denied = clamp\n")


@functools.lru_cache(maxsize=None)
def without_cap():
    """A prefix that takes CAP_SYS_RESOURCE away; empty where there is none."""
    with open("/proc/self/status", encoding="ascii") as lines:
        caps = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff"))
    if not caps >> CAP_SYS_RESOURCE & 1:
        return ()
    return (support.need("setpriv"), "--inh-caps=-sys_resource", "--bounding-set=-sys_resource", "--")


@functools.lru_cache(maxsize=None)
def launcher_bytes():
    with open(shutil.which(support.FDFIT), "rb") as file:
        return file.read()


PT_DYNAMIC, PT_INTERP = 2, 3


def program_headers():
    """The types of the program headers of the launcher under test."""
    image = launcher_bytes()
    start, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    return [struct.unpack_from("<I", image, start + i * size)[0] for i in range(count)]


def is_static():
    """True when the launcher under test is loaded without an interpreter."""
    return PT_INTERP not in program_headers()


def need_no_sanitizer():
    if b"__asan_init" in launcher_bytes():
        raise unittest.SkipTest("the sanitizers in this launcher need /proc")


class ExecCase(support.Case):
    """Starting things through fdfit, from the inherited pair of this file."""

    def run_fdfit(self, *arguments, prefix=(), env=None, limit=INHERITED, **more):
        more.setdefault("preexec_fn", support.nofile(*limit))
        return support.run(*prefix, support.FDFIT, *arguments, env=support.clean_env(**(env or {})), **more)

    def state(self, *options, prefix=(), **more):
        """The state of a command that was started through fdfit; (state, stderr)."""
        out = self.path("state")
        done = self.run_fdfit(*options, support.helper("state"), out, prefix=prefix, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.read_state(out), done.stderr

    def read_state(self, path):
        with open(path, encoding="ascii") as file:
            return json.load(file)

    def assert_says(self, stderr, *options, status=0, stdout="", **more):
        """Run fdfit with `true` as the command: exactly this on stderr, and this status."""
        done = self.run_fdfit(*options, "true", **more)
        self.assertEqual((done.stderr, done.returncode, done.stdout), (stderr, status, stdout))

    def assert_limit(self, pair, line, *options, **more):
        state, stderr = self.state(*options, **more)
        self.assertEqual((tuple(state["nofile"]), stderr), (pair, f"fdfit: {line}\n"))

    def for_another_user(self):
        """A copy of the launcher that any user can run, and what makes a child that user's."""
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can become another user")
        os.chmod(self.dir, 0o755)
        copy = self.path("fdfit")
        shutil.copy(shutil.which(support.FDFIT), copy)
        return copy, {"user": 12345, "group": 12345, "extra_groups": []}
