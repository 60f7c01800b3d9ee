"""lock = deny, pretend and clamp: whoever asks, and by whichever call, the limit stays what the policy says.

The calls are made raw by a helper that knows every system call interface of the machine; then real programs ask in
their own way. What is asserted is what the call returned and what the limit was afterwards. Without a lock each asker
does raise its limit: the same test with mode "no" shows that it could fail.
"""
import errno
import functools
import json
import os
import pwd
import re
import shutil
import struct
import sys
import textwrap
import unittest

import support
import tap
import victim_programs

SOFT, HARD = 1024, 4096
PAIR, NOW = f"{SOFT}:{HARD}", f"{SOFT}:{HARD}"
INHERITED_HARD = support.limits_of()[1]
#: Of capabilities(7): DAC_OVERRIDE, KILL, SETGID, SETUID, SYS_PTRACE, SYS_RESOURCE.
SUPERVISOR_KEEPS = (1, 5, 6, 7, 19, 24)
MODES = ("no", "deny", "pretend", "clamp")

#: A namespace of its own in which the first process is PID 1, with its own /proc.
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
#: What an engine leaves to a container by default.
USUAL = ("chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,"
         "audit_write,setfcap").split(",")


def locked(mode, *command, pair=PAIR):
    """The command under a mode's lock."""
    words = {"no": ["-q"], "clamp": ["--init", "--lock=clamp"]}.get(mode, ["-q", f"--lock={mode}"])
    return [support.FDFIT, *words, "-n", pair, "--", *command]


@functools.lru_cache(maxsize=None)
def takes_int80():
    """Whether this kernel has the interface of 32-bit programs (CONFIG_IA32_EMULATION, ia32_emulation=): without it
    int $0x80 is a fault, and a program of 32 bits can't be started."""
    return support.run(support.helper("nofile-ask"), "int80-read", "0", "0").returncode == 0


def calls(program="nofile-ask"):
    known = support.run(support.helper(program), "list").stdout.split()
    return [call for call in known if takes_int80() or not call.startswith("int80-")]


def setpriv(caps=None, user=False):
    """Words that start a command with no more capabilities than those, or as another user."""
    words = ["setpriv"]
    if caps is not None:
        words += ["--bounding-set=" + ",".join(["-all"] + [f"+{cap}" for cap in caps]), "--inh-caps=-all"]
    if user:
        nobody = pwd.getpwnam("nobody")
        words += [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    return words


class Answer:
    """What nofile-ask said."""

    def __init__(self, text):
        found = re.search(r"ret=(-?\d+) errno=(\d+) old=(\S+) now=(\S+)", text)
        if not found:
            raise AssertionError(f"nofile-ask said: {text!r}")
        self.ret, self.errno = int(found[1]), int(found[2])
        self.old, self.now = found[3], found[4]

    def __repr__(self):
        return f"ret={self.ret} errno={self.errno} old={self.old} now={self.now}"


class LockCase(support.Case):
    def ask(self, mode, call, soft, hard, program="nofile-ask", before=(), between=()):
        path = shutil.copy(support.helper(program), self.dir)
        os.chmod(self.dir, 0o755)
        r = support.run(*before, *locked(mode, *between, path, call, str(soft), str(hard)))
        answer = Answer(r.stdout)
        answer.said = r.stderr
        return answer


class Calls(LockCase):
    """Every call of every interface, up and down."""

    #: Calls that ask for something else than a limit of nofile for the caller.
    OTHER = {"parent-pid", "missing-struct", "bad-old", "core", "core-setrlimit", "read", "x32-read", "int80-read"}

    def setters(self, program="nofile-ask"):
        return [call for call in calls(program) if call not in self.OTHER]

    def check_each(self, mode, program, soft, hard, check):
        for call in self.setters(program):
            with self.subTest(call=call, mode=mode):
                check(call, self.ask(mode, call, soft, hard, program))

    def refused(self, call, answer):
        self.assertEqual((answer.ret, answer.errno, answer.now), (-1, errno.EPERM, NOW), answer)

    def pretended(self, call, answer):
        self.assertEqual((answer.ret, answer.errno, answer.now), (0, 0, NOW), answer)

    def clamped(self, call, answer):
        self.assertEqual((answer.ret, answer.errno, answer.now), (0, 0, NOW), answer)
        self.assertIn(answer.old, ("-", NOW))
        self.assertEqual(answer.old == "-", call.endswith("setrlimit"), call)
        self.assertRegex(answer.said, r"(?m)^fdfit: nofile-ask(32)? \(pid \d+\) asked for nofile \S+, kept 1024$")

    def lowered(self, call, answer):
        self.assertEqual((answer.ret, answer.errno, answer.now), (0, 0, "512:2048"), answer)
        self.assertNotIn("asked for", answer.said)

    def raised(self, call, answer):
        if call.startswith("x32-") and answer.errno == errno.ENOSYS:
            return  # a kernel without x32
        self.assertEqual((answer.ret, answer.now), (0, f"{HARD}:{HARD}"), answer)

    def test_each_call_raises_without_a_lock(self):
        self.check_each("no", "nofile-ask", HARD, HARD, self.raised)

    def test_deny_refuses_up(self):
        self.check_each("deny", "nofile-ask", HARD, HARD, self.refused)

    def test_deny_refuses_down(self):
        self.check_each("deny", "nofile-ask", 512, 2048, self.refused)

    def test_pretend_answers_up(self):
        self.check_each("pretend", "nofile-ask", HARD, HARD, self.pretended)

    def test_pretend_answers_down(self):
        self.check_each("pretend", "nofile-ask", 512, 2048, self.pretended)

    def test_clamp_keeps_the_ceiling(self):
        self.check_each("clamp", "nofile-ask", 1048576, 1048576, self.clamped)

    def test_clamp_lowers(self):
        self.check_each("clamp", "nofile-ask", 512, 2048, self.lowered)

    def need_int80(self):
        if not takes_int80():
            raise unittest.SkipTest("this kernel has no interface for programs of 32 bits")

    def test_int80_is_asked(self):
        self.need_int80()
        self.assertIn("int80-setrlimit", self.setters())
        self.assertIn("int80-prlimit", self.setters())

    def need32(self):
        self.need_int80()
        try:
            return support.helper("nofile-ask32")
        except AssertionError:
            raise unittest.SkipTest("no program of 32 bits was built (gcc -m32)") from None

    def test_programs_of_32_bits(self):
        self.need32()
        self.check_each("no", "nofile-ask32", HARD, HARD, self.raised)
        self.check_each("deny", "nofile-ask32", HARD, HARD, self.refused)
        self.check_each("pretend", "nofile-ask32", HARD, HARD, self.pretended)
        self.check_each("clamp", "nofile-ask32", 1048576, "unlimited", self.clamped)
        self.check_each("clamp", "nofile-ask32", 512, 2048, self.lowered)

    def test_reading_passes(self):
        for mode in MODES:
            for call in ("read", "int80-read", "x32-read"):
                if call not in calls():
                    continue
                with self.subTest(mode=mode, call=call):
                    answer = self.ask(mode, call, 0, 0)
                    if call == "x32-read" and answer.errno == errno.ENOSYS:
                        continue
                    self.assertEqual((answer.ret, answer.old, answer.now), (0, NOW, NOW), answer)

    def test_other_resources_pass(self):
        for mode in MODES:
            for call in ("core", "core-setrlimit"):
                with self.subTest(mode=mode, call=call):
                    self.assertEqual(self.ask(mode, call, 0, 4096).ret, 0)

    def test_the_limit_of_another_process(self):
        for mode in ("deny", "clamp"):
            with self.subTest(mode=mode):
                answer = self.ask(mode, "parent-pid", 512, 512)
                self.assertEqual((answer.ret, answer.errno), (-1, errno.EPERM), answer)
        self.assertRegex(answer.said, r"asked for the nofile of another process: refused")

    def test_faults_are_the_kernels(self):
        for call in ("missing-struct", "bad-old"):
            with self.subTest(call=call):
                plain = self.ask("no", call, 512, 2048)
                self.assertEqual(repr(self.ask("clamp", call, 512, 2048)), repr(plain))
                self.assertEqual(plain.errno, errno.EFAULT)

    def test_soft_above_hard_is_invalid(self):
        answer = self.ask("clamp", "prlimit", 2048, 1024)
        self.assertEqual((answer.ret, answer.errno, answer.now), (-1, errno.EINVAL, NOW), answer)


class Programs(LockCase):
    """Real programs that ask for the hard limit. Each prints its /proc/self/limits at the end."""

    LIMITS = "open('/proc/self/limits').read()"

    def limit_in(self, r):
        line = re.search(r"Max open files\s+(\d+)\s+(\d+)", r.stdout)
        self.assertTrue(line, r.stdout + r.stderr)
        return int(line[1]), int(line[2])

    def check(self, command, says=None, raises_to=(HARD, HARD)):
        """Run it in each mode; `says` maps a mode to what its output must match."""
        for mode in MODES:
            with self.subTest(mode=mode):
                r = support.run(*locked(mode, *command))
                self.assertEqual(self.limit_in(r), raises_to if mode == "no" else (SOFT, HARD), r.stderr)
                if says and mode in says:
                    self.assertRegex(r.stdout + r.stderr, says[mode])

    def test_python(self):
        self.check([sys.executable, "-c", textwrap.dedent(f"""
            import resource
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, ({HARD}, {HARD}))
                print("it worked")
            except (ValueError, OSError) as error:
                print("it failed:", error)
            print({self.LIMITS})""")],
            {"no": "it worked", "deny": "it failed", "pretend": "it worked", "clamp": "it worked"})

    def test_bash(self):
        bash = support.need("bash")
        self.check([bash, "-c", f"ulimit -n {HARD} && echo it worked || echo it failed; cat /proc/self/limits"],
                   {"deny": "it failed", "pretend": "it worked", "clamp": r"(?s)it worked.*kept 1024"})

    def test_a_start_script_that_wants_no_limit(self):
        bash = support.need("bash")
        r = support.run(*locked("clamp", bash, "-ec", "ulimit -n unlimited; cat /proc/self/limits"))
        self.assertEqual((r.returncode, self.limit_in(r)), (0, (SOFT, HARD)), r.stderr)
        self.assertRegex(r.stderr, r"fdfit: bash \(pid \d+\) asked for nofile unlimited, kept 1024\n")

    def test_prlimit(self):
        prlimit, cat = support.need("prlimit"), support.need("cat")
        self.check([support.need("sh"), "-c",
                    f"{prlimit} --nofile={HARD}:{HARD} {cat} /proc/self/limits || {cat} /proc/self/limits"],
                   {"deny": "(?i)failed to set", "clamp": "prlimit.*kept 1024"})

    def test_prlimit_of_another_process(self):
        prlimit = support.need("prlimit")
        script = f"{prlimit} --nofile={HARD}:{HARD} --pid $$; cat /proc/$$/limits"
        self.check([support.need("sh"), "-c", script], {"deny": "(?i)failed to set", "clamp": "another process"})

    def test_ruby(self):
        self.check([support.need("ruby"), "-e", textwrap.dedent(f"""
            begin
              Process.setrlimit(Process::RLIMIT_NOFILE, {HARD}, {HARD}); puts "it worked"
            rescue SystemCallError => error
              puts "it failed: #{{error}}"
            end
            puts File.read("/proc/self/limits")""")],
            {"deny": "it failed", "pretend": "it worked", "clamp": "it worked"})

    def test_java(self):
        java = support.need("java")
        source = self.write("Limits.java", textwrap.dedent("""
            import java.nio.file.*;
            public class Limits {
                public static void main(String[] args) throws Exception {
                    System.out.println(Files.readString(Path.of("/proc/self/limits")));
                }
            }"""))
        support.need("javac")
        self.check([java, source], {"clamp": r"java \(pid \d+\) asked for nofile 4096, kept 1024"})

    def test_java_version(self):
        java = victim_programs.java()
        for mode in MODES[1:]:
            with self.subTest(mode=mode):
                r = support.run(*locked(mode, *java, "-version"))
                self.assertEqual(r.returncode, 0, r.stderr)

    def test_go(self):
        go = victim_programs.go()
        source = self.write("main.go", textwrap.dedent("""
            package main

            import (
                "fmt"
                "os"
                "syscall"
            )

            func main() {
                want := syscall.Rlimit{Cur: %d, Max: %d}
                fmt.Println("setrlimit:", syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want))
                text, _ := os.ReadFile("/proc/self/limits")
                fmt.Println(string(text))
            }""" % (HARD, HARD)))
        built = support.run(go, "build", "-o", self.path("limits"), source,
                            env=support.clean_env(GOCACHE=self.path("cache"), GOFLAGS="-mod=mod", GO111MODULE="off",
                                                  CGO_ENABLED="0"))
        self.assertEqual(built.returncode, 0, built.stderr)
        self.check([self.path("limits")], {"deny": "operation not permitted", "clamp": "<nil>"})


def identities():
    """Who supervises, and as whom the workload runs: (name, words before fdfit, words before the command)."""
    rows = []
    for place, namespace in (("PID 1", NAMESPACE), ("subreaper", ())):
        rows += [
            (f"{place}, root", namespace, ()),
            (f"{place}, root, usual capabilities", (*namespace, *setpriv(USUAL)), ()),
            (f"{place}, root, no capability", (*namespace, *setpriv(())), ()),
            (f"{place}, another user", (*namespace, *setpriv(user=True)), ()),
        ]
    return rows


def need_root():
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root")
    support.need("setpriv")
    r = support.run(*NAMESPACE, "true")
    if r.returncode != 0:
        raise unittest.SkipTest(f"no pid namespace here: {r.stderr.strip()}")


class Privileges(LockCase):
    """Every kind of supervisor, and workloads that run as somebody else."""

    def setUp(self):
        need_root()
        super().setUp()

    def test_every_supervisor_keeps_and_lowers(self):
        for name, before, between in identities():
            for mode in ("deny", "pretend", "clamp"):
                with self.subTest(who=name, mode=mode):
                    up = self.ask(mode, "prlimit", 1048576, 1048576, before=before, between=between)
                    self.assertEqual((up.ret, up.now), (-1 if mode == "deny" else 0, NOW), up.said)
            with self.subTest(who=name):
                down = self.ask("clamp", "prlimit", 512, 2048, before=before, between=between)
                self.assertEqual((down.ret, down.now), (0, "512:2048"), down.said)

    def test_a_workload_of_another_user(self):
        """PID 1 takes its ids for the call; a subreaper, which its signals would end, refuses."""
        for caps in (None, USUAL):
            words = setpriv(caps) if caps else ()
            with self.subTest(caps=caps, place="PID 1"):
                up = self.ask("clamp", "prlimit", 1048576, 1048576, before=(*NAMESPACE, *words),
                              between=setpriv(user=True))
                self.assertEqual((up.ret, up.old, up.now), (0, NOW, NOW), up.said)
            with self.subTest(caps=caps, place="subreaper"):
                up = self.ask("clamp", "prlimit", 1048576, 1048576, before=words, between=setpriv(user=True))
                if has_sys_resource():
                    self.skipTest("CAP_SYS_RESOURCE sets the limit of anybody")
                self.assertEqual((up.ret, up.errno, up.now), (-1, errno.EPERM, NOW), up.said)
                self.assertRegex(up.said, "runs as another user")

    def test_nested_pid_namespace(self):
        for call in ("prlimit", "own-pid", "thread-id"):
            with self.subTest(call=call):
                up = self.ask("clamp", call, 1048576, 1048576, before=NAMESPACE, between=NAMESPACE)
                self.assertEqual((up.ret, up.now), (0, NOW), up.said)
        # Its parent has number 0 there, and the number of a stranger is one that the caller has elsewhere.
        other = self.ask("clamp", "parent-pid", 512, 512, before=NAMESPACE,
                         between=(*NAMESPACE, "sh", "-c", '"$@"; exit $?', "sh"))
        self.assertEqual((other.ret, other.errno), (-1, errno.EPERM), other.said)

    def no_new_privs(self, mode, *before):
        r = support.run(*before, *[word for word in locked(mode, "cat", "/proc/self/status") if word != "-q"])
        self.assertEqual(r.returncode, 0, r.stderr)
        return re.search(r"NoNewPrivs:\s*(\d)", r.stdout)[1], r.stderr

    def test_no_new_privs_only_where_it_is_needed(self):
        if not has_cap(21):
            raise unittest.SkipTest("needs CAP_SYS_ADMIN")
        for mode in ("deny", "pretend", "clamp"):
            with self.subTest(mode=mode):
                set_, said = self.no_new_privs(mode)
                self.assertEqual(set_, "0")
                self.assertNotIn("no_new_privs", said)
                set_, said = self.no_new_privs(mode, *setpriv(USUAL))
                self.assertEqual(set_, "1")
                self.assertIn("no_new_privs", said)

    def test_no_new_privs_that_was_set_before_is_not_news(self):
        set_, said = self.no_new_privs("deny", *setpriv(USUAL), "--no-new-privs")
        self.assertEqual(set_, "1")
        self.assertNotIn("no_new_privs", said)


def has_cap(number):
    with open("/proc/self/status", encoding="ascii") as lines:
        effective = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff"))
    return bool(effective >> number & 1)


def has_sys_resource():
    return has_cap(24)


class Supervisor(LockCase):
    """What a supervisor that answers has to live through."""

    def stress(self, *words, before=()):
        r = support.run(*before, *locked("clamp", support.helper("nofile-stress"), *words), timeout=240)
        self.assertEqual(r.returncode, 0, r.stderr)
        return dict((key, int(value)) for key, value in re.findall(r"(\w+)=(\d+)", r.stdout)), r.stderr

    def test_a_struct_that_changes_during_the_call(self):
        found, _ = self.stress("race", "2000", "20000")
        self.assertLessEqual(found["max"], SOFT)
        self.assertGreater(found["moved"], 0, "the struct never changed in time: the test shows nothing")

    def test_targets_killed_while_they_wait(self):
        found, _ = self.stress("kill", "1000")
        self.assertEqual((found["killed"], found["ret"]), (1000, 0))
        self.assertGreater(found["waiting"], 0, "none was killed while it waited: the test shows nothing")

    def test_timer_that_restarts_the_call(self):
        for usec in ("5000", "200"):
            with self.subTest(usec=usec):
                found, _ = self.stress("timer", "2000", usec)
                self.assertGreaterEqual(found["ticks"], 20)

    def test_each_program_is_reported_once(self):
        ask = support.helper("nofile-ask")
        script = f"for i in 1 2 3; do {ask} prlimit 1048576 1048576; {ask} parent-pid 1 1; done >/dev/null"
        said = support.run(*locked("clamp", "sh", "-c", script)).stderr
        self.assertEqual(len(re.findall(r"nofile-ask .*kept 1024", said)), 1, said)
        self.assertEqual(len(re.findall(r"nofile-ask .*another process", said)), 1, said)

    def test_names_of_processes_are_escaped(self):
        path = self.path("a\x1b[31m")
        shutil.copy(support.helper("nofile-ask"), path)
        said = support.run(*locked("clamp", path, "prlimit", "1048576", "1048576")).stderr
        self.assertIn(r"a\x1b[31m (pid ", said)

    def test_descriptors_of_the_workload(self):
        """The listener stays with the supervisor: the workload must not answer for itself."""
        r = support.run(*locked("clamp", "sh", "-c", "readlink /proc/$$/fd/* 2>/dev/null"))
        self.assertIn("/dev/null", r.stdout)
        self.assertNotIn("seccomp", r.stdout)

    def test_a_second_listener_falls_back_to_deny(self):
        command = locked("clamp", support.helper("nofile-ask"), "prlimit", "512", "512")
        r = support.run(*locked("clamp", *command))
        answer = Answer(r.stdout)
        self.assertEqual((answer.ret, answer.errno), (-1, errno.EPERM), r.stderr)
        self.assertRegex(r.stderr, "deny")

    def test_dead_supervisor(self):
        """Its workload's calls give ENOSYS: the limit stays all the same."""
        script = textwrap.dedent("""
            import os, resource, signal, time
            parent = os.getppid()
            os.kill(parent, signal.SIGKILL)
            while os.getppid() == parent:
                time.sleep(0.002)
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 4096))
                print("it worked", flush=True)
            except OSError as error:
                print("it failed:", error.errno, resource.getrlimit(resource.RLIMIT_NOFILE), flush=True)""")
        r = support.run(*locked("clamp", sys.executable, "-c", script))
        self.assertEqual(r.stdout.strip(), f"it failed: {errno.ENOSYS} ({SOFT}, {HARD})", r.stderr)


    def test_a_lock_without_a_limit_keeps_what_is_inherited(self):
        path = support.helper("nofile-ask")
        for mode, ret in (("deny", -1), ("pretend", 0), ("clamp", 0)):
            with self.subTest(mode=mode):
                r = support.run(support.FDFIT, "--init", f"--lock={mode}", "--", path, "prlimit", "1048576", "1048576",
                                preexec_fn=support.nofile(SOFT, HARD))
                answer = Answer(r.stdout)
                self.assertEqual((answer.ret, answer.now), (ret, NOW), r.stderr)

    def test_supervisor_drops_its_capabilities_and_the_workload_keeps_them(self):
        with open("/proc/self/status", encoding="ascii") as lines:
            own = int(re.search(r"CapEff:\s*(\w+)", lines.read())[1], 16)
        kept = f"{own & sum(1 << n for n in SUPERVISOR_KEEPS):016x}"
        # It drops them once the command runs: this waits until it did, or until support.run() gives up.
        script = f"until grep -q CapEff:.*{kept} /proc/$PPID/status; do :; done; grep CapEff: /proc/self/status"
        for mode in ("deny", "clamp"):
            with self.subTest(mode=mode):
                r = support.run(support.FDFIT, "--init", f"--lock={mode}", "-n", PAIR, "--", "sh", "-c", script)
                self.assertEqual(r.stdout.split(), ["CapEff:", f"{own:016x}"], r.stderr)


class Policy(LockCase):
    """The key, and the errors of a policy."""

    def test_clamp_without_init_starts_nothing(self):
        flag = self.path("started")
        r = support.run(support.FDFIT, "-n", PAIR, "--lock=clamp", "--", "touch", flag)
        self.assertEqual(r.returncode, 125)
        self.assertRegex(r.stderr, r"^fdfit: lock = clamp \(argument\) needs init = yes: ")
        self.assertFalse(os.path.exists(flag))

    def test_clamp_without_init_in_a_file_names_the_line(self):
        path = self.write("policy", f"soft = {SOFT}\nlock = clamp\n")
        r = support.run(support.FDFIT, "-p", path, "--", "true")
        self.assertEqual(r.returncode, 125)
        self.assertIn(f"lock = clamp ({path}:2) needs init = yes", r.stderr)

    def test_unknown_mode(self):
        r = support.run(support.FDFIT, "-n", PAIR, "--lock=maybe", "--", "true")
        self.assertEqual(r.returncode, 125)
        self.assertRegex(r.stderr, "'maybe' is not 'no', 'clamp', 'deny' or 'pretend'")

    def test_the_lock_comes_after_the_limit(self):
        r = support.run(support.FDFIT, "-q", "-n", "64:64", "--lock=deny", "--", support.helper("nofile-ask"), "read",
                        "0", "0")
        self.assertEqual(Answer(r.stdout).now, "64:64")

    def test_a_lock_that_cannot_be_loaded_starts_nothing(self):
        """seccomp(2) and no_new_privs both refused, as a strict profile does."""
        refuse = support.helper("refuse-calls")
        for name in ("seccomp", "prctl"):
            with self.subTest(refused=name):
                before = (*setpriv(USUAL), refuse, name) if name == "prctl" else (refuse, name)
                if name == "prctl":
                    need_root()
                r = support.run(*before, support.FDFIT, "-n", PAIR, "--lock=deny", "--", "echo", "started")
                self.assertEqual((r.returncode, r.stdout), (125, ""), r.stderr)
                self.assertRegex(r.stderr, r"fdfit: (can't load the lock's seccomp filter|lock needs CAP_SYS_ADMIN)")


class Generated(LockCase):
    """The filter in the launcher is the one that the generator makes."""

    def built(self, name):
        build = os.environ.get("FDFIT_TEST_BUILD", "")
        path = os.path.join(build, "src", *name.split("/"))
        if not build or not os.path.exists(path):
            raise unittest.SkipTest(f"no build folder with {name} (FDFIT_TEST_BUILD)")
        return path

    def fresh(self):
        family = {"arm64": "aarch64", "amd64": "x86_64"}.get(os.uname().machine, os.uname().machine)
        r = support.run(self.built("gen/lockgen"), family)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def test_header_is_fresh(self):
        with open(self.built("policy/lock_filter.h"), encoding="ascii") as header:
            self.assertEqual(header.read(), self.fresh())

    def test_launcher_carries_it(self):
        with open(shutil.which(support.FDFIT), "rb") as file:
            image = file.read()
        programs = re.findall(r"lock_(\w+)\[\] = \{(.*?)\n\};", self.fresh(), re.S)
        self.assertEqual([name for name, _ in programs], ["deny", "pretend", "clamp"])
        for name, body in programs:
            rows = re.findall(r"\{(\w+), (\d+), (\d+), (\w+)\}", body)
            code = b"".join(struct.pack("=HBBI", int(a, 16), int(b), int(c), int(d, 16)) for a, b, c, d in rows)
            with self.subTest(name=name):
                self.assertGreater(len(rows), 20)
                self.assertTrue(code in image, "the launcher has another program")

    def test_every_machine_has_one(self):
        for family in ("x86_64", "aarch64"):
            with self.subTest(family=family):
                self.assertEqual(support.run(self.built("gen/lockgen"), family).stdout.count("static const"), 3)
        self.assertEqual(support.run(self.built("gen/lockgen"), "vax").returncode, 2)


#: What Docker's default profile refuses to a container with the usual capabilities (its documentation, "Significant
#: syscalls blocked by the default profile", and later releases): all with EPERM, clone3 with ENOSYS.
DOCKER_REFUSES = """
    acct add_key bpf clock_settime delete_module fanotify_init finit_module fsconfig fsmount fsopen fspick
    get_mempolicy init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mbind mount
    mount_setattr move_mount move_pages open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root
    process_madvise quotactl quotactl_fd reboot request_key set_mempolicy sethostname setdomainname setns
    settimeofday swapoff swapon syslog umount2 unshare userfaultfd vhangup io_uring_setup io_uring_enter
    io_uring_register""".split()
CLONE_NEW = 0x7e020000


class Container(LockCase):
    """Below a container engine: runc, with what Docker's default profile and capabilities leave."""

    def bundle(self, command):
        caps = [f"CAP_{cap.upper()}" for cap in USUAL]
        mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
                  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}]
        root = self.path("root")
        os.makedirs(root, exist_ok=True)
        top = {"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc"}
        for path in sorted(top | {os.path.dirname(support.FDFIT), os.path.dirname(support.helper("nofile-ask"))}):
            if os.path.isdir(path):
                mounts.append({"destination": path, "type": "bind", "source": os.path.realpath(path),
                               "options": ["rbind", "ro"]})
        refuse = [{"names": DOCKER_REFUSES, "action": "SCMP_ACT_ERRNO", "errnoRet": errno.EPERM},
                  {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS},
                  *({"names": ["clone"], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.EPERM,
                     "args": [{"index": 0, "value": 1 << bit, "valueTwo": 1 << bit, "op": "SCMP_CMP_MASKED_EQ"}]}
                    for bit in range(32) if CLONE_NEW >> bit & 1)]
        config = {
            "ociVersion": "1.0.2", "root": {"path": root}, "mounts": mounts,
            "process": {
                "args": command, "cwd": "/", "user": {"uid": 0, "gid": 0}, "noNewPrivileges": False,
                "env": ["PATH=/usr/bin:/bin", "ASAN_OPTIONS=detect_leaks=0"],
                "capabilities": {name: caps for name in ("bounding", "effective", "permitted")},
            },
            "linux": {
                "namespaces": [{"type": kind} for kind in ("pid", "mount", "ipc", "uts")],
                "seccomp": {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": refuse,
                            "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]},
            },
        }
        self.write("config.json", json.dumps(config))

    def run_in_container(self, *command):
        runc = support.need("runc")
        self.bundle(list(command))
        name = f"fdfit-test-{os.getpid()}-{os.path.basename(self.dir)}"
        self.addCleanup(support.run, runc, "delete", "--force", name)
        return support.run(runc, "--root", self.path("state"), "run", "--bundle", self.dir, name)

    def setUp(self):
        need_root()
        super().setUp()
        r = self.run_in_container("/bin/sh", "-c", "grep -E 'Seccomp:|CapEff' /proc/self/status")
        if "Seccomp:\t2" not in r.stdout:
            raise unittest.SkipTest(f"runc starts no container here: {(r.stdout + r.stderr).strip()[:300]}")
        self.assertIn("CapEff:\t00000000a80425fb", r.stdout)

    def test_each_mode(self):
        path = support.helper("nofile-ask")
        for mode, ret in (("deny", -1), ("pretend", 0), ("clamp", 0)):
            with self.subTest(mode=mode):
                r = self.run_in_container(*locked(mode, path, "prlimit", "1048576", "1048576"))
                answer = Answer(r.stdout)
                self.assertEqual((answer.ret, answer.now), (ret, NOW), r.stderr)

    def test_clamp_lowers_and_serves_another_user(self):
        path = support.helper("nofile-ask")
        r = self.run_in_container(*locked("clamp", *setpriv(user=True), path, "prlimit", "512", "2048"))
        self.assertEqual(Answer(r.stdout).now, "512:2048", r.stderr)


if __name__ == "__main__":
    tap.main()
