"""Where the real programs are, as argv prefixes: those that `victims` unpacked, then those on PATH."""
import functools
import glob
import os
import platform
import shutil
import subprocess
import unittest

import support

#: Hides /proc from a program in a mount namespace of its own; the program's argv follows.
_WITHOUT_PROC = ["sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
#: Bit of CAP_SYS_RESOURCE in CapEff, linux/capability.h.
_CAP_SYS_RESOURCE = 24


def _unpacked(*below):
    """Paths below the folder of unpacked packages that match a pattern; none when there is no such folder."""
    return sorted(glob.glob(os.path.join(support.VICTIMS, *below))) if support.VICTIMS else []


def _with_libraries(path, *variables):
    """argv that runs an unpacked program with the unpacked libraries; nothing else in the test sees them."""
    folders = _unpacked("lib", "*-linux-gnu*") + _unpacked("usr", "lib", "*-linux-gnu*")
    return ["env", f"LD_LIBRARY_PATH={':'.join(folders)}", *variables, path]


def _find(name):
    for folder in ("usr/sbin", "usr/bin", "sbin", "bin"):
        for path in _unpacked(folder, name):
            return path
    return None


def _skip(name):
    where = support.VICTIMS or "FDFIT_TEST_VICTIMS is not set"
    raise unittest.SkipTest(f"{name} is neither unpacked ({where}) nor on PATH")


@functools.lru_cache(maxsize=None)
def program(name):
    """argv prefix of a program by its name, or a skip."""
    path = _find(name)
    if path:
        return _with_libraries(path)
    sbin = os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"
    path = shutil.which(name, path=sbin)
    return [path] if path else _skip(name)


def go():
    """Path of a Go compiler: the unpacked one, or one on PATH, or a skip."""
    found = _unpacked("usr", "lib", "go-*", "bin", "go")
    return found[-1] if found else shutil.which("go") or _skip("go")


@functools.lru_cache(maxsize=None)
def fakeroot():
    """argv prefix of fakeroot; the unpacked script has to be told where its library and its daemon are."""
    script, daemon = _find("fakeroot-sysv"), _find("faked-sysv")
    library = _unpacked("usr", "lib", "*", "libfakeroot", "libfakeroot-sysv.so")
    if script and daemon and library:
        return _with_libraries(script) + ["-l", library[0], "-f", daemon, "--"]
    return program("fakeroot")


@functools.lru_cache(maxsize=None)
def java():
    """argv prefix of a Java runtime."""
    for path in _unpacked("usr", "lib", "jvm", "java-*-openjdk-*", "bin", "java"):
        return _with_libraries(path)
    return program("java")


@functools.lru_cache(maxsize=None)
def rpm(name="rpm"):
    """argv prefix of rpm or rpmbuild; unpacked ones have to be told where their macros are."""
    path = _find(name)
    if path:
        return _with_libraries(path, "RPM_CONFIGDIR=" + os.path.join(support.VICTIMS, "usr", "lib", "rpm"))
    return program(name)


@functools.lru_cache(maxsize=None)
def strace():
    """argv prefix of a strace that may trace here, or a skip."""
    argv = program("strace")
    tried = support.run(*argv, "-f", "--seccomp-bpf", "-e", "trace=close", "-o", os.devnull, "true")
    if tried.returncode != 0:
        raise unittest.SkipTest(f"strace does not work here: {_last_line(tried.stderr)}")
    return argv


@functools.lru_cache(maxsize=None)
def without_proc():
    """argv prefix that runs a program where /proc is empty, or a skip."""
    support.need("unshare")
    reasons = []
    for flags in (["-m"], ["-r", "-m"]):
        argv = ["unshare", *flags, *_WITHOUT_PROC]
        tried = support.run(*argv, "test", "!", "-e", "/proc/self")
        if tried.returncode == 0:
            return argv
        reasons.append(_last_line(tried.stderr))
    raise unittest.SkipTest(f"/proc cannot be hidden here: {'; '.join(reasons)}")


@functools.lru_cache(maxsize=None)
def without_sys_resource():
    """argv prefix that takes CAP_SYS_RESOURCE away: empty where there is none to take, or a skip."""
    with open("/proc/self/status", encoding="ascii") as lines:
        effective = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    if not effective >> _CAP_SYS_RESOURCE & 1:
        return []
    argv = [support.need("setpriv"), "--inh-caps=-sys_resource", "--bounding-set=-sys_resource"]
    tried = support.run(*argv, "true")
    if tried.returncode != 0:
        raise unittest.SkipTest(f"CAP_SYS_RESOURCE cannot be dropped: {_last_line(tried.stderr)}")
    return argv


def fortified(source, target):
    """Compile a C program as distributions do, with glibc's FORTIFY; or a skip."""
    compiler = shutil.which("cc")
    if not compiler or platform.libc_ver()[0] != "glibc":
        raise unittest.SkipTest("no C compiler (cc) or no glibc")
    subprocess.run([compiler, "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-o", target, source],
                   check=True, timeout=support.PATIENCE)
    return [target]


def _last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]
