/*
 * A program that suffers from a high limit as Python 2's subprocess.Popen(close_fds=True) does, for machines
 * without a Python 2 and for counts that must be exact.
 *
 *     victim [-n COMMANDS] [-s SECONDS] [--keep | --interleave] [--] [COMMAND [ARG...]]
 *
 * As in Lib/subprocess.py of Python 2.7 the limit is read once, at the start (MAXFD =
 * os.sysconf("SC_OPEN_MAX")), and for each command a fork's child closes every number from 3 to limit - 1
 * (os.closerange, a plain loop) and executes. Python's pipe for the errors of exec is left out: its own
 * closes would blur the count. So under `strace -f -e trace=close` a command's child makes exactly limit - 3
 * calls, and the victim itself none.
 *
 *   -n, --commands N   how many commands to run, 250 when not given; with --interleave, so many of each kind
 *   -s, --seconds N    start no further command after N seconds (there are at least 5 of each kind all the
 * same) -k, --keep         no close loop: the floor, Popen(close_fds=False) -i, --interleave   one command
 * with the loop, one without, and so on: both medians and their ratio
 *
 * COMMAND is searched on PATH; without one it is `noop` in the victim's own folder. It must end with status
 * 0. Prints one line of key=value fields: max, commands (of each kind), close_us and keep_us (medians, fork
 * to wait, of what was run), ratio (close_us / keep_us, with --interleave), seconds (the whole time). Status:
 * 0, 1 when a command could not be run, 2 for wrong arguments.
 */
#include "bench.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DEFAULT_COMMANDS = 250,
    LEAST_COMMANDS = 5, /* a median of fewer says nothing */
    MOST_COMMANDS = 10000000,
    MOST_SECONDS = 86400,
    EXEC_FAILED = 127, /* as the shells have it; the child has already said why */
};

/* The two kinds of command: with the close loop, and the floor. */
enum kind { CLOSE, KEEP, KINDS };

struct victim {
    char **command;
    int max; /* first number that is not closed: the limit at the start */
    long commands;
    long seconds; /* 0: no bound */
    bool runs[KINDS];
    int64_t *samples[KINDS];
};

static _Noreturn void usage(int status)
{
    fputs("usage: victim [-n COMMANDS] [-s SECONDS] [--keep | --interleave] [--] [COMMAND [ARG...]]\n",
          status ? stderr : stdout);
    exit(status);
}

/* noop in the folder of this program; AT_EXECFN (getauxval(3)) is the path it was executed by, and needs no
 * /proc. */
static char *default_command(void)
{
    unsigned long path = getauxval(AT_EXECFN);
    const char *self = path ? (const char *)path : "";
    const char *slash = strrchr(self, '/');
    char *ret;

    if (asprintf(&ret, "%.*snoop", slash ? (int)(slash - self + 1) : 0, self) < 0)
        err(1, "memory for the path of noop");
    if (access(ret, X_OK) < 0)
        err(1, "%s, the command when none is given: build it or name a command", ret);
    return ret;
}

/* The limit as Python 2 reads it. Every number up to it must fit close(2)'s int. */
static int read_max(void)
{
    long max = sysconf(_SC_OPEN_MAX);

    if (max < 0 || max > INT_MAX)
        errx(1, "sysconf(_SC_OPEN_MAX) is %ld: no loop can end there; set a limit (prlimit --nofile=N)", max);
    return (int)max;
}

/* The child's side of one command. */
static _Noreturn void child(const struct victim *victim, enum kind kind)
{
    if (kind == CLOSE)
        for (int fd = 3; fd < victim->max; fd++)
            close(fd);
    execvp(victim->command[0], victim->command);
    warn("cannot execute %s", victim->command[0]);
    _exit(EXEC_FAILED);
}

/* Run one command to its end; the time from before the fork until it was waited for, in nanoseconds. */
static int64_t run_command(const struct victim *victim, enum kind kind)
{
    int64_t start = bench_now();
    int64_t end;
    int status;
    pid_t pid = fork();

    if (pid < 0)
        err(1, "fork");
    if (pid == 0)
        child(victim, kind);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            err(1, "waitpid for process %d", (int)pid);
    end = bench_now();
    if (WIFSIGNALED(status))
        errx(1, "%s was ended by signal %d: stopped", victim->command[0], WTERMSIG(status));
    if (WEXITSTATUS(status) == EXEC_FAILED)
        errx(1, "%s ended with status 127, not found or not executable: stopped", victim->command[0]);
    if (WEXITSTATUS(status) != 0)
        errx(1, "%s ended with status %d, 0 is expected: stopped", victim->command[0], WEXITSTATUS(status));
    return end - start;
}

static void parse_options(int argc, char **argv, struct victim *victim)
{
    static const struct option options[] = {
        {"commands", required_argument, NULL, 'n'}, {"seconds", required_argument, NULL, 's'},
        {"keep", no_argument, NULL, 'k'},           {"interleave", no_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    bool keep = false;
    bool interleave = false;
    int option;

    while ((option = getopt_long(argc, argv, "+n:s:kih", options, NULL)) != -1) {
        switch (option) {
        case 'n': victim->commands = bench_count("--commands", optarg, MOST_COMMANDS); break;
        case 's': victim->seconds = bench_count("--seconds", optarg, MOST_SECONDS); break;
        case 'k': keep = true; break;
        case 'i': interleave = true; break;
        case 'h': usage(0);
        default: usage(2);
        }
    }
    if (keep && interleave)
        errx(2, "--keep and --interleave exclude each other: --interleave runs both kinds");
    victim->runs[CLOSE] = !keep;
    victim->runs[KEEP] = keep || interleave;
    if (optind < argc)
        victim->command = argv + optind;
}

/* Run the commands, filling samples; how many of each kind were run. */
static long run_all(const struct victim *victim)
{
    int64_t deadline = victim->seconds ? bench_now() + victim->seconds * 1000000000 : INT64_MAX;
    long done = 0;

    while (done < victim->commands && (done < LEAST_COMMANDS || bench_now() < deadline)) {
        for (enum kind kind = 0; kind < KINDS; kind++)
            if (victim->runs[kind])
                victim->samples[kind][done] = run_command(victim, kind);
        done++;
    }
    return done;
}

static void print_result(const struct victim *victim, long done, int64_t whole)
{
    static const char *const names[KINDS] = {[CLOSE] = "close_us", [KEEP] = "keep_us"};
    double median[KINDS];

    printf("max=%d commands=%ld", victim->max, done);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        if (!victim->runs[kind])
            continue;
        median[kind] = bench_median_us(victim->samples[kind], (size_t)done);
        printf(" %s=%.1f", names[kind], median[kind]);
    }
    if (victim->runs[CLOSE] && victim->runs[KEEP])
        printf(" ratio=%.3f", median[CLOSE] / median[KEEP]);
    printf(" seconds=%.3f\n", (double)whole / 1e9);
    if (fflush(stdout) != 0)
        err(1, "cannot write the result to stdout");
}

int main(int argc, char **argv)
{
    char *fallback[] = {NULL, NULL};
    struct victim victim = {.max = read_max(), .commands = DEFAULT_COMMANDS};
    int64_t start;
    long done;

    parse_options(argc, argv, &victim);
    if (!victim.command) {
        fallback[0] = default_command();
        victim.command = fallback;
    }
    for (enum kind kind = 0; kind < KINDS; kind++)
        if (victim.runs[kind])
            victim.samples[kind] = bench_samples((size_t)victim.commands);
    start = bench_now();
    done = run_all(&victim);
    print_result(&victim, done, bench_now() - start);
    for (enum kind kind = 0; kind < KINDS; kind++)
        free(victim.samples[kind]);
    free(fallback[0]);
    return 0;
}
