"""--install: the launcher copies itself, also out of an image that holds nothing else."""
import filecmp
import os
import shutil
import stat
import subprocess
import unittest

import support
import tap
from exec_support import PT_DYNAMIC, ExecCase, is_static, launcher_bytes, program_headers

#: What the static launcher may have: it is copied into images, and read page by page at each start.
LARGEST = 64 * 1024


class Install(ExecCase):
    """--install: a copy of the running program, whole or not at all."""

    def install(self, dest, target, **more):
        done = self.run_fdfit("--install", dest, **more)
        size = len(launcher_bytes())
        self.assertEqual((done.stdout, done.stderr, done.returncode), (f"installed {target} ({size} bytes)\n", "", 0))
        self.assertTrue(filecmp.cmp(target, shutil.which(support.FDFIT), shallow=False))
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o755)

    def refused(self, dest, reason, **more):
        done = self.run_fdfit("--install", dest, **more)
        self.assertEqual((done.stderr, done.stdout, done.returncode),
                         (f"fdfit: can't install to {dest}: {reason}\n", "", 125))

    def test_to_a_file(self):
        self.install(self.path("launcher"), self.path("launcher"))
        self.assertEqual(os.listdir(self.dir), ["launcher"])

    def test_into_a_folder(self):
        for dest in (self.dir, self.dir + "/"):
            self.install(dest, self.path("fdfit"))
            self.assertEqual(os.listdir(self.dir), ["fdfit"])

    def test_the_umask_does_not_decide(self):
        self.install(self.path("launcher"), self.path("launcher"), preexec_fn=lambda: os.umask(0o777))

    def test_the_copy_works(self):
        self.install(self.dir, self.path("fdfit"))
        done = support.run(self.path("fdfit"), "-q", "-n", "77", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_over_an_existing_file_atomically(self):
        target = self.write("launcher", "the old one", 0o600)
        old = os.stat(target)
        with open(target, encoding="ascii") as held:
            self.install(target, target)
            self.assertEqual(held.read(), "the old one", "who has the old file open still has it whole")
        self.assertNotEqual(os.stat(target).st_ino, old.st_ino)

    def test_over_a_program_that_runs(self):
        target = self.path("launcher")
        shutil.copy(shutil.which("sleep"), target)
        running = subprocess.Popen([target, "600"])
        try:
            self.install(target, target)
        finally:
            running.kill()
            running.wait()

    def test_over_a_link_replaces_the_link(self):
        victim = self.write("victim", "untouched")
        os.symlink(victim, self.path("launcher"))
        self.install(self.path("launcher"), self.path("launcher"))
        with open(victim, encoding="ascii") as file:
            self.assertEqual(file.read(), "untouched")
        self.assertFalse(os.path.islink(self.path("launcher")))

    def test_a_missing_folder(self):
        self.refused(self.path("none/launcher"), "no such file or folder")
        self.refused(self.path("none/"), "no such file or folder")
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_path_through_a_file(self):
        self.write("file", "")
        self.refused(self.path("file/launcher"), "a part of the path is not a folder")
        self.refused(self.path("file/"), "a part of the path is not a folder")

    def test_a_folder_that_stands_where_the_program_should(self):
        os.makedirs(self.path("fdfit/fdfit"))
        self.refused(self.path("fdfit"), "is a folder")
        self.assertEqual(os.listdir(self.path("fdfit")), ["fdfit"], "no leftover")

    def test_a_folder_that_may_not_be_written(self):
        launcher, user = self.for_another_user()
        done = support.run(launcher, "--install", self.path("copy"), **user)
        self.assertEqual((done.stderr, done.returncode),
                         (f"fdfit: can't install to {self.path('copy')}: permission denied\n", 125))

    def test_a_read_only_file_system(self):
        unshare = support.need("unshare")
        script = 'mount -t tmpfs -o ro none "$1" && exec "$2" --install "$1"'
        done = support.run(unshare, "-m", "sh", "-c", script, "sh", self.dir, support.FDFIT)
        if "fdfit:" not in done.stderr:
            raise unittest.SkipTest(f"no mount namespace here: {done.stderr.strip()}")
        self.assertEqual((done.stderr, done.returncode),
                         (f"fdfit: can't install to {self.dir}: read-only file system\n", 125))

    def test_a_full_file_system_leaves_nothing(self):
        unshare = support.need("unshare")
        script = ('mount -t tmpfs -o size=8k none "$1" || exit; "$2" --install "$1"; status=$?; ls -A "$1"; '
                  'exit $status')
        done = support.run(unshare, "-m", "sh", "-c", script, "sh", self.dir, support.FDFIT)
        if "fdfit:" not in done.stderr:
            raise unittest.SkipTest(f"no mount namespace here: {done.stderr.strip()}")
        self.assertEqual((done.stderr, done.stdout, done.returncode),
                         (f"fdfit: can't install to {self.dir}: no space left\n", "", 125))

    def test_bad_names(self):
        done = self.run_fdfit("--install", "/" + "n" * 5000)
        self.assertEqual((done.stderr, done.returncode), ("fdfit: can't install: the name is too long\n", 125))
        done = self.run_fdfit("--install=")
        self.assertEqual((done.stderr, done.returncode),
                         ("fdfit: --install: the value is empty, but should be a text\n", 125))


class Size(unittest.TestCase):
    def test_a_static_launcher_is_small(self):
        if not is_static():
            raise unittest.SkipTest("the launcher under test is not static")
        self.assertNotIn(PT_DYNAMIC, program_headers(), "nothing is left for a dynamic linker to do")
        self.assertLessEqual(len(launcher_bytes()), LARGEST)


class EmptyRoot(ExecCase):
    """A root that holds nothing but the launcher, as an image FROM scratch."""

    def setUp(self):
        super().setUp()
        if not is_static():
            raise unittest.SkipTest("the launcher under test is not static")
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can change its root")
        shutil.copy(shutil.which(support.FDFIT), self.path("fdfit"))
        os.mkdir(self.path("out"))

    def inside(self, *argv):
        def enter():
            os.chroot(self.dir)
            os.chdir("/")

        return support.run(*argv, env={}, preexec_fn=enter)

    def test_install(self):
        done = self.inside("/fdfit", "--install", "/out")
        self.assertEqual((done.stdout, done.stderr, done.returncode),
                         (f"installed /out/fdfit ({len(launcher_bytes())} bytes)\n", "", 0))
        self.assertTrue(filecmp.cmp(self.path("out/fdfit"), self.path("fdfit"), shallow=False))

    def test_start(self):
        done = self.inside("/fdfit", "-q", "-n", "64", "--inherited-fds=close", "/fdfit", "--explain", "--soft=inherit")
        self.assertEqual((done.stdout.splitlines()[:1], done.stderr, done.returncode), (["nofile 64:64 kept"], "", 0))

    def test_a_command_that_is_not_there(self):
        done = self.inside("/fdfit", "-q", "-n", "64", "--inherited-fds=keep", "sh")
        self.assertEqual((done.stderr, done.returncode), ("fdfit: can't run 'sh': not found in PATH\n", 127))


if __name__ == "__main__":
    tap.main()
