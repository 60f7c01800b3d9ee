"""What the cli tests share: where the programs are, running them, finding a Python 2, waiting for a condition."""
import functools
import os
import resource
import shutil
import subprocess
import tempfile
import time
import unittest

#: The launcher under test, and the folders of the small C programs that the tests start, a list as PATH is one.
FDFIT = os.environ.get("FDFIT", "fdfit")
HELPERS = os.environ.get("FDFIT_TEST_HELPERS", "")
#: Debian packages unpacked (never installed) by contrib/dev, to be run as victims.
VICTIMS = os.environ.get("FDFIT_TEST_VICTIMS", "")
#: The top of the source tree.
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

#: Longer than anything here takes on a loaded machine: a wait that ends by it is a failure, not a result.
PATIENCE = 60.0


def helper(name):
    """Path of a built test helper."""
    found = shutil.which(name, path=HELPERS)
    if not found:
        raise AssertionError(f"no helper {name} in FDFIT_TEST_HELPERS={HELPERS}")
    return found


def clean_env(**more):
    """The caller's environment without the variables that the tests or fdfit itself read."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("FDFIT")}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:
            env[name] = os.environ[name]
    env.update(more)
    return env


def nofile(soft, hard=None):
    """A preexec_fn that sets the nofile limit of a child before it is executed."""
    return functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, soft if hard is None else hard))


def run(*argv, env=None, **more):
    """Run a program to its end; the result has returncode, stdout and stderr as text."""
    more.setdefault("timeout", PATIENCE)
    return subprocess.run(
        argv, env=clean_env() if env is None else env, text=True, errors="surrogateescape",
        stdin=more.pop("stdin", subprocess.DEVNULL), stdout=more.pop("stdout", subprocess.PIPE),
        stderr=more.pop("stderr", subprocess.PIPE), **more)


def wait_for(condition, what, patience=PATIENCE):
    """Call condition until it is true and return its value; fail with `what` when it never is."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {patience} s in vain for: {what}")
        time.sleep(0.002)


def limits_of(pid="self"):
    """The (soft, hard) nofile pair of a process, from /proc."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("Max open files"):
                soft, hard = line.split()[3:5]
                return tuple(-1 if v == "unlimited" else int(v) for v in (soft, hard))
    raise AssertionError(f"/proc/{pid}/limits has no line for open files")


@functools.lru_cache(maxsize=None)
def python2():
    """A Python 2 interpreter: PYTHON2, then PATH, then pyenv's; or a skip that says so.

    Each is asked for its own path: a pyenv shim on PATH is a script that may find no Python 2 behind it, and if it
    does, the interpreter itself is what a test wants to start, without the script's descriptors.
    """
    found = [os.environ.get("PYTHON2"), shutil.which("python2.7"), shutil.which("python2")]
    pyenv = shutil.which("pyenv")
    if pyenv:
        root = subprocess.run([pyenv, "root"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        found.append(os.path.join(root, "versions", "2.7.18", "bin", "python"))
    for path in found:
        if path and os.access(path, os.X_OK):
            asked = run(path, "-c", "import sys; print(sys.version_info[0] == 2 and sys.executable or '')")
            if asked.returncode == 0 and asked.stdout.strip():
                return asked.stdout.strip()
    raise unittest.SkipTest("no Python 2 (PYTHON2, PATH, pyenv)")


def need(program):
    """Path of a program on PATH, or a skip that names it."""
    path = shutil.which(program)
    if not path:
        raise unittest.SkipTest(f"{program} is not installed")
    return path


class Case(unittest.TestCase):
    """A test case with a folder of its own that is removed afterwards."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="fdfit-test.")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content, mode=0o644):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, mode)
        return path
