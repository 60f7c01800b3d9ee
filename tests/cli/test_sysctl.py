"""sysctl.d as src/inspect reads it, beside the real systemd-sysctl: made folders, the same values written."""
import os
import random
import unittest

import support
import tap

PROGRAM = "/lib/systemd/systemd-sysctl"
FOLDERS = ("etc/sysctl.d", "run/sysctl.d", "usr/local/lib/sysctl.d", "usr/lib/sysctl.d")
NAMES = ("nr_open", "file-max")
FILES = ("10-a.conf", "20-b.conf", "20-c.conf", "B.conf", "99-sysctl.conf", "none", ".hidden.conf")
KEYS = ("fs.nr_open", "fs.nr_open", "fs/nr_open", "fs.file-max", "fs/file-max", "-fs.nr_open", " fs.file-max ", "fs.nr_*",
        "fs.file?max", "-fs.f*", "kernel.x", "fs.nr_opens")

# The folders are covered whole, and the kernel's files by plain ones: nothing of the machine is read or changed. What is
# not there on the machine is made in a memory of the namespace's own.
SESSION = """
set -e
mount -t tmpfs none /usr/local/lib
mkdir -p /usr/local/lib/sysctl.d
mount -t tmpfs none /run
mkdir -p /run/sysctl.d
for folder in etc/sysctl.d run/sysctl.d usr/local/lib/sysctl.d usr/lib/sysctl.d; do
    mount --bind "$1/$folder" "/$folder"
done
mount --bind "$1/fs" /proc/sys/fs
: > "$1/covered"
exec "$2"
"""


class BesideSystemd(support.Case):
    def setUp(self):
        super().setUp()
        if "FDFITCTL" not in os.environ:
            raise unittest.SkipTest("built without fdfitctl, whose reader this is about")
        support.need("unshare")
        if not os.path.exists(PROGRAM) or not os.path.isdir("/etc/sysctl.d"):
            raise unittest.SkipTest(f"no {PROGRAM} or no /etc/sysctl.d here")
        if support.run("unshare", "-m", "sh", "-c", "mount -t tmpfs none /run").returncode:
            raise unittest.SkipTest("no mount namespace can be made here")

    def systemd(self, root):
        os.mkdir(os.path.join(root, "fs"))
        for name in NAMES:
            with open(os.path.join(root, "fs", name), "w", encoding="ascii") as file:
                file.write("-\n")
        support.run("unshare", "-m", "--propagation", "private", "sh", "-c", SESSION, "sh", root, PROGRAM)
        # Its status is 1 where a line is no assignment.
        self.assertTrue(os.path.exists(os.path.join(root, "covered")), "the folders could not be covered")
        values = []
        for name in NAMES:
            with open(os.path.join(root, "fs", name), encoding="ascii") as file:
                values.append(file.readline().strip())
        return values

    def make(self, number, files):
        """A root with files {"etc/sysctl.d/a.conf": content, or None for a link to /dev/null}."""
        root = self.path(f"root{number}")
        for folder in FOLDERS:
            os.makedirs(os.path.join(root, folder))
        os.makedirs(os.path.join(root, "usr/lib/systemd"))
        with open(os.path.join(root, "usr/lib/systemd/systemd-sysctl"), "wb"):
            pass
        for path, content in files.items():
            if content is None:
                os.symlink("/dev/null", os.path.join(root, path))
            else:
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(content)
        return root

    def assert_same(self, number, files):
        root = self.make(number, files)
        ours = support.run(support.helper("sysctl_reader"), root, check=True).stdout.split()
        self.assertEqual(ours, self.systemd(root), files)

    def test_folders_and_masks(self):
        self.assert_same(1, {"usr/lib/sysctl.d/50-a.conf": "fs.nr_open = 1000\nfs.file-max = 10\n",
                             "run/sysctl.d/40-b.conf": "fs.nr_open = 2000\n", "etc/sysctl.d/60-c.conf": "fs/file-max=3000\n"})
        self.assert_same(2, {"usr/lib/sysctl.d/50-a.conf": "fs.nr_open = 1000\n", "etc/sysctl.d/50-a.conf": None,
                             "usr/local/lib/sysctl.d/10-x.conf": "fs.file-max = 5\n", "run/sysctl.d/10-x.conf": ""})

    def test_lines(self):
        self.assert_same(1, {"etc/sysctl.d/a.conf": "#fs.nr_open=1\n; fs.nr_open=2\n  fs.nr_open\t=  3000 \nfs.file-max\n-fs.file-max=9\n"})
        self.assert_same(2, {"etc/sysctl.d/a.conf": "fs.nr_open=3000\nfs.*=4000\n"})
        self.assert_same(3, {"etc/sysctl.d/a.conf": "-fs.nr_open\nfs.nr*=4000\nfs.file*=5000\nfs.file*=6000\n"})

    def test_made_folders(self):
        chance = random.Random(6)
        for number in range(20):
            files = {}
            for _ in range(chance.randrange(1, 6)):
                path = f"{chance.choice(FOLDERS)}/{chance.choice(FILES)}"
                lines = [f"{chance.choice(KEYS)}{chance.choice(('=', ' = ', '= '))}{chance.randrange(64, 2000000)}\n"
                         for _ in range(chance.randrange(4))]
                if chance.random() < 0.2:
                    lines.append(chance.choice(("-fs.nr_open\n", "-fs.file-max\n", "fs.nr_open\n")))
                files[path] = None if chance.random() < 0.15 else "".join(lines)
            self.assert_same(number, files)


if __name__ == "__main__":
    tap.main()
