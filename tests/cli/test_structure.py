"""Rules of the source tree that no compiler checks: who includes whom, what the launcher may call, how long a function
may be, and that each key stands in the manual."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

import support
import tap

SRC = os.path.join(support.SOURCE, "src")
MAN = os.path.join(support.SOURCE, "man")
BUILD = os.environ.get("FDFIT_TEST_BUILD", "")

#: Each folder of src/, and the others that it may include from. A new folder has to be entered here.
LAYERS = {
    "base": set(),
    "policy": {"base"},
    "measure": {"base"},
    "launcher": {"base", "policy", "measure"},
    "inspect": {"base", "policy", "measure"},
    "ctl": {"base", "policy", "measure", "inspect"},
    "fastclose": set(),
    "gen": set(),
}

#: The layers whose objects make the launcher.
LAUNCHER = ("base", "policy", "measure", "launcher")

#: What the launcher never calls: the heap, stdio, the end by exit, and what of libc allocates, prints, reads files or
#: calls a shell by itself.
FORBIDDEN = frozenset("""
    malloc calloc realloc reallocarray free memalign posix_memalign aligned_alloc valloc cfree brk sbrk mmap mmap64
    strdup strndup asprintf vasprintf open_memstream getline getdelim
    printf fprintf dprintf sprintf snprintf vprintf vfprintf vdprintf vsprintf vsnprintf puts fputs putc fputc putchar
    fopen fopen64 fdopen freopen fclose fflush fwrite fread fgets fgetc getc getchar ungetc scanf fscanf sscanf vsscanf
    setbuf setvbuf perror psignal stdin stdout stderr tmpfile
    exit quick_exit atexit on_exit abort assert_fail
    getopt getopt_long getopt_long_only strerror strerror_r strsignal setlocale gettext qsort
    opendir fdopendir readdir readdir64 closedir scandir nftw glob wordexp realpath
    gmtime gmtime_r localtime localtime_r mktime strftime tzset asctime ctime
    execvp execvpe execlp system popen posix_spawnp closefrom syslog openlog setenv putenv unsetenv
    getpwnam getpwuid getgrnam getgrgid dlopen pthread_create
""".split())

#: The one mapping: the meter's table, of a fixed size and made once, so that only its used pages count.
MAY_MAP = {"launcher_init_watch.c.o": {"mmap", "mmap64"}}

#: What a layer may include of the build's own making.
GENERATED = {("policy", "gen/lock_filter.h")}

#: The objects that may end a process.
MAY_EXIT = {"launcher_main.c.o", "launcher_init_child.c.o"}

LONGEST_FUNCTION = 60

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources(folder=SRC):
    return sorted(glob.glob(os.path.join(folder, "**", "*.[ch]"), recursive=True))


def layer_of(path, root):
    return os.path.relpath(path, root).split(os.sep)[0]


def wrong_includes(root):
    """Lines "file: why" for each include that goes up, sideways, or nowhere."""
    wrong = []
    for path in sources(root):
        layer, name = layer_of(path, root), os.path.relpath(path, root)
        if layer not in LAYERS:
            wrong.append(f"{name}: the folder {layer} is not in the table of layers")
            continue
        text = read(path)
        for included in INCLUDE.findall(text):
            other = included.split("/")[0]
            if "/" not in included:
                if not os.path.exists(os.path.join(os.path.dirname(path), included)) and layer in LAUNCHER:
                    wrong.append(f'{name}: "{included}" has no folder')
            elif other not in LAYERS:
                wrong.append(f"{name}: {included} is in no layer")
            elif other != layer and other not in LAYERS[layer] and (layer, included) not in GENERATED:
                wrong.append(f"{name}: {layer} may not include {included}")
        if layer != "gen":
            wrong += [f"{name}: only gen may include <{h}>" for h in SYSTEM_INCLUDE.findall(text)
                      if h.startswith("seccomp")]
    return wrong


def without_texts(text):
    """The code with comments, strings and characters blanked out and its line breaks kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def functions(text):
    """(line, lines from the brace to its end) of each function body: a '{' in the first column, as the style has it."""
    lines = without_texts(text).splitlines()
    begin, found = None, []
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            begin = number
        elif line.startswith("}") and begin:
            found.append((begin, number - begin - 1))
            begin = None
    return found


def undefined_symbols(nm, path):
    """Names that an object or archive leaves to others, without a version or a trailing mark."""
    done = subprocess.run([nm, "--undefined-only", "--format=posix", path], stdout=subprocess.PIPE, text=True,
                          check=True)
    return sorted({line.split()[0].partition("@")[0] for line in done.stdout.splitlines()
                   if len(line.split()) >= 2 and line.split()[1] == "U"})


def plain_name(symbol):
    """The function that a libc's other name stands for: __printf_chk, __isoc99_sscanf, fputs_unlocked."""
    return re.sub(r"^(__isoc\d+_|_IO_|__)|(_chk|_unlocked)$", "", symbol)


def forbidden_symbols(nm, path):
    return [name for name in undefined_symbols(nm, path) if plain_name(name) in FORBIDDEN]


class Includes(unittest.TestCase):
    def test_no_include_goes_up_or_sideways(self):
        self.assertGreater(len(sources()), 20)
        self.assertEqual(wrong_includes(SRC), [])

    def test_the_layers_have_no_circle(self):
        order = list(LAYERS)
        for layer, below in LAYERS.items():
            for other in below:
                self.assertLess(order.index(other), order.index(layer))
                self.assertLessEqual(LAYERS[other], below, f"{layer} sees what {other} sees")

    def test_the_check_itself_sees_each_kind_of_wrong_include(self):
        with tempfile.TemporaryDirectory() as root:
            for folder, content in (("base", '#include "policy/plan.h"\n'), ("policy", '#  include "measure/fds.h"\n'),
                                    ("launcher", '#include "inspect/x.h"\n#include "base/fd.h"\n'),
                                    ("ctl", '#include "launcher/msg.h"\n'), ("measure", "#include <seccomp.h>\n"),
                                    ("other", "")):
                os.mkdir(os.path.join(root, folder))
                with open(os.path.join(root, folder, "a.c"), "w", encoding="ascii") as file:
                    file.write(content)
            self.assertEqual(wrong_includes(root), [
                "base/a.c: base may not include policy/plan.h", "ctl/a.c: ctl may not include launcher/msg.h",
                "launcher/a.c: launcher may not include inspect/x.h", "measure/a.c: only gen may include <seccomp.h>",
                "other/a.c: the folder other is not in the table of layers",
                "policy/a.c: policy may not include measure/fds.h"])


class Symbols(support.Case):
    def objects(self):
        """The objects that the launcher is made of, one for each source, from the build folder: it may hold older ones."""
        found = []
        for layer in LAUNCHER:
            for path in sources(os.path.join(SRC, layer)):
                if not path.endswith(".c"):
                    continue
                name = os.path.relpath(path, SRC).replace(os.sep, "_") + ".o"
                target = "fdfit.p" if name == "launcher_main.c.o" else f"lib{layer}.a.p"
                found.append(os.path.join(BUILD, "src", target, name))
                self.assertTrue(os.path.exists(found[-1]), f"no object {found[-1]}")
        return found

    def test_no_heap_stdio_or_exit_in_the_launcher(self):
        nm = support.need("nm")
        self.assertTrue(BUILD, "FDFIT_TEST_BUILD names the build folder")
        objects = self.objects()
        wrong = {name: [symbol for symbol in forbidden_symbols(nm, path) if symbol not in MAY_MAP.get(name, ())]
                 for name, path in ((os.path.basename(path), path) for path in objects)}
        self.assertEqual({name: names for name, names in wrong.items() if names}, {})

    def test_only_a_main_and_the_child_after_the_fork_end_the_process(self):
        nm = support.need("nm")
        ending = {os.path.basename(path) for path in self.objects()
                  if {"_exit", "_Exit"} & set(undefined_symbols(nm, path))}
        self.assertEqual(ending - MAY_EXIT, set())

    def test_the_check_itself_sees_a_call(self):
        nm, cc = support.need("nm"), support.need("cc")
        source, made = self.write("a.c", """
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>
            char *use(const char *s, char *buffer);
            char *use(const char *s, char *buffer)
            {
                if (!s)
                    exit(1);
                if (!buffer)
                    _exit(1);
                fprintf(stderr, "%d %s", 1, s);
                free(buffer);
                return strdup(s);
            }
        """), self.path("a.o")
        for options in (["-O0"], ["-O2", "-D_FORTIFY_SOURCE=2"]):
            subprocess.run([cc, *options, "-c", source, "-o", made], check=True, timeout=support.PATIENCE)
            self.assertEqual({plain_name(name) for name in forbidden_symbols(nm, made)},
                             {"exit", "fprintf", "free", "stderr", "strdup"})
            self.assertIn("_exit", undefined_symbols(nm, made))


class Functions(unittest.TestCase):
    def test_none_is_longer_than_its_bound(self):
        long, count = [], 0
        for path in sources():
            for line, length in functions(read(path)):
                count += 1
                if length > LONGEST_FUNCTION:
                    long.append(f"{os.path.relpath(path, SRC)}:{line}: {length} lines")
        self.assertGreater(count, 100)
        self.assertEqual(long, [])

    def test_the_counter_itself_counts(self):
        body = "".join(f"    call({n});\n" for n in range(61))
        text = (f'int f(void)\n{{\n{body}}}\n\nstatic const int x[] = {{\n1,\n}};\n'
                '/*\n{\n*/\nint g(void)\n{\n    h("\\"}");\n}\n')
        self.assertEqual([length for _, length in functions(text)], [61, 1])


class Manual(unittest.TestCase):
    """Every key of the table is described where a person looks for it."""

    def keys(self):
        """(name, places) of each row, from the source of the table."""
        rows = re.findall(r'\.name = "([a-z-]+)"(.*?)\.values = ', read(os.path.join(SRC, "policy", "keys.c")), re.S)
        names = [(name, re.search(r"\.places = ([A-Z_ |]+)", row)[1]) for name, row in rows]
        self.assertGreaterEqual(len(names), 19)
        return names

    def page(self, name):
        path = os.path.join(MAN, name)
        if not os.path.exists(path):
            raise unittest.SkipTest(f"there is no man/{name} yet")
        return read(path)

    def test_every_policy_key_is_in_fdfit_conf(self):
        page = self.page("fdfit.conf.5.scd")
        self.assertEqual([name for name, places in self.keys() if re.search("IN_ALL|IN_FILE", places)
                          and not re.search(rf"\*{name}\b(?!-)", page)], [])

    def test_every_option_is_in_fdfit(self):
        page = self.page("fdfit.1.scd").replace("\\-", "-").replace("\\", "")
        self.assertEqual([name for name, places in self.keys() if re.search("IN_ALL|IN_ARG", places)
                          and f"--{name}" not in page], [])


if __name__ == "__main__":
    tap.main()
