#include "suite.h"

#include "base/err.h"
#include "launcher/exec.h"
#include "launcher/launch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A folder with three folders of programs, the working folder of the case. Only a program of mode 0755 whose
 * text is a script can be run; it leaves with the status in it. */
static char folder[] = "/tmp/fdfit-unit.XXXXXX";

static void file(const char *path, mode_t mode, const char *content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    ck_assert_int_eq(fchmod(fd, mode), 0);
    close(fd);
}

static void begin(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(mkdir("a", 0755) + mkdir("b", 0755) + mkdir("c", 0755), 0);
    file("a/both", 0644, "#!/bin/sh\nexit 11\n");
    file("b/both", 0755, "#!/bin/sh\nexit 12\n");
    file("c/both", 0755, "#!/bin/sh\nexit 13\n");
    file("a/plain", 0644, "#!/bin/sh\nexit 14\n");
    file("b/text", 0755, "exit 15\n");
    file("b/lost", 0755, "#!/nonexistent/interpreter\n");
    file("here", 0755, "#!/bin/sh\nexit 16\n");
    file("file", 0644, "");
}

static void end(void)
{
    static const char *const files[] = {"a/both", "b/both", "c/both", "a/plain",
                                        "b/text", "b/lost", "here",   "file"};

    for (size_t i = 0; i < COUNT(files); i++)
        unlink(files[i]);
    rmdir("a");
    rmdir("b");
    rmdir("c");
    ck_assert_int_eq(rmdir(folder), 0);
}

/* The status that the command left with, or the negative error of exec_search. */
static int run(const char *name, char *path)
{
    char *environment[] = {path, NULL};
    char *command[] = {(char *)name, NULL};
    int pipes[2], r = 0, status;
    pid_t child;

    ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        r = exec_search(command, environment);
        _exit(write(pipes[1], &r, sizeof(r)) == sizeof(r) ? 0 : 1);
    }
    close(pipes[1]);
    if (read(pipes[0], &r, sizeof(r)) != sizeof(r))
        r = 0;
    close(pipes[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return r < 0 ? r : WEXITSTATUS(status);
}

START_TEST(the_search_follows_execvp)
{
    static const struct {
        const char *name;
        char *path;
        int result;
    } rows[] = {
        {"both", "PATH=b:c", 12},
        {"both", "PATH=c:b", 13},
        {"both", "PATH=a:c", 13},    /* EACCES is no end of the search ... */
        {"both", "PATH=a", -EACCES}, /* ... but is kept */
        {"both", "PATH=a:nowhere", -EACCES},
        {"both", "PATH=file:b", 12}, /* ENOTDIR */
        {"both", "PATH=nowhere:b", 12},
        {"none", "PATH=a:b:c", -ENOENT},
        {"none", "PATH=file", -ENOENT},
        {"here", "PATH=a:", 16}, /* an empty part is the working folder */
        {"here", "PATH=:a", 16},
        {"here", "PATH=a::b", 16},
        {"here", "PATH=", 16},
        {"here", "PATH=a", -ENOENT},
        {"a", "PATH=.", -EACCES}, /* a folder */
        {"./here", "PATH=a", 16}, /* a slash: no search */
        {"a/both", "PATH=b", -EACCES},
        {"b/none", "PATH=b", -ENOENT},
        {"file/x", "PATH=b", -ENOTDIR},
        {"b/text", "PATH=b", -ENOEXEC}, /* never a shell */
        {"text", "PATH=b", -ENOEXEC},
        {"lost", "PATH=b", -ENOENT},
        {"", "PATH=b", -ENOENT},
        {"sh", "NOPATH=", 0}, /* a default where there is none */
    };

    begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        int r = run(rows[i].name, rows[i].path);

        ck_assert_msg(r == rows[i].result, "%s by %s: %d, not %d", rows[i].name, rows[i].path, r,
                      rows[i].result);
    }
    end();
}
END_TEST

START_TEST(a_long_part_of_the_path_is_passed_over)
{
    char path[2 * PATH_MAX], name[PATH_MAX + 1];
    TEXT_ON(t, path);

    begin();
    text_str(&t, "PATH=");
    for (int i = 0; i < PATH_MAX; i++)
        text_char(&t, 'x');
    text_str(&t, ":b");
    ck_assert_int_eq(run("both", t.at), 12);
    memset(name, '/', sizeof(name));
    name[PATH_MAX] = '\0';
    ck_assert_int_eq(run(name, t.at), -ENAMETOOLONG);
    end();
}
END_TEST

static void found(const char *name, char *path, const char *expected)
{
    char *environment[] = {path, NULL};
    char got[PATH_MAX] = "";

    ck_assert_int_eq(exec_find(name, environment, got, sizeof(got)), 0);
    ck_assert_str_eq(got, expected);
}

START_TEST(what_would_be_run_can_be_asked)
{
    char *environment[] = {"PATH=a", NULL};
    char got[PATH_MAX] = "before";

    begin();
    found("both", "PATH=a:b", "b/both");
    found("here", "PATH=", "here");
    found("./here", "PATH=a", "./here");
    ck_assert_int_eq(exec_find("both", environment, got, sizeof(got)), -EACCES);
    ck_assert_int_eq(exec_find("none", environment, got, sizeof(got)), -ENOENT);
    ck_assert_str_eq(got, "before");
    end();
}
END_TEST

START_TEST(failures_are_explained)
{
    static const struct {
        const char *name;
        int error, status;
        const char *line;
    } rows[] = {
        {"none", -ENOENT, EXIT_NOT_FOUND, "can't run 'none': not found in PATH"},
        {"b/none", -ENOENT, EXIT_NOT_FOUND, "can't run 'b/none': no such file"},
        {"", -ENOENT, EXIT_NOT_FOUND, "can't run '': no such file"},
        {"file/x", -ENOTDIR, EXIT_NOT_FOUND, "can't run 'file/x': a part of the path is not a folder"},
        {"lost", -ENOENT, EXIT_NOT_EXECUTABLE,
         "can't run 'lost': its interpreter (of its '#!' line, or its dynamic loader) is missing"},
        {"text", -ENOEXEC, EXIT_NOT_EXECUTABLE,
         "can't run 'text': neither a program of this machine nor a script with a '#!' line; name its "
         "interpreter"},
        {"a/both", -EACCES, EXIT_NOT_EXECUTABLE, "can't run 'a/both': permission denied"},
        {"both", -E2BIG, EXIT_NOT_EXECUTABLE, "can't run 'both': the argument list is too long"},
        {"a\033[m", -ENOENT, EXIT_NOT_FOUND, "can't run 'a\\x1b[m': not found in PATH"},
    };
    char *environment[] = {"PATH=a:b", NULL};

    begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[TEXT_LINE];
        TEXT_ON(t, line);

        ck_assert_int_eq(exec_explain(rows[i].name, rows[i].error, environment, &t), rows[i].status);
        ck_assert_str_eq(t.at, rows[i].line);
    }
    end();
}
END_TEST

SUITE("exec", the_search_follows_execvp, a_long_part_of_the_path_is_passed_over,
      what_would_be_run_can_be_asked, failures_are_explained)
