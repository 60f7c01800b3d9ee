/*
 * What a prefix costs before a command: each prefix is put before the same command, all in turn in a fresh
 * random order each round, so that a slow moment of the machine falls on all of them alike. The command alone
 * goes first in the output and is what the others are to be divided by.
 *
 *     startup [-r ROUNDS] COMMAND [:: NAME PREFIX [ARG...]]...
 *
 * `::` begins a prefix, NAME is for the output. Prefix and COMMAND are searched on PATH. One time is from
 * before posix_spawn(3) until the process was waited for. The stderr of all goes to /dev/null, the direct
 * ones too, so that a prefix is measured with its message but without a terminal; a trial of each beforehand
 * shows its stderr, and one that does not end with status 0 ends the bench. Prints a line `NAME<tab>MEDIAN`
 * in microseconds for each, the first with the name `direct`; startup.py makes the table of it. Status: 0, 1
 * when a prefix could not be run, 2 for wrong arguments.
 */
#include "bench.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DEFAULT_ROUNDS = 2000,
    MOST_ROUNDS = 10000000,
    SEED = 1, /* any: the same order in each bench */
};

/* One thing to measure. */
struct entry {
    const char *name;
    char **argv; /* prefix and command, NULL at the end; owned */
    int64_t *samples;
};

static _Noreturn void usage(int status)
{
    fputs("usage: startup [-r ROUNDS] COMMAND [:: NAME PREFIX [ARG...]]...\n", status ? stderr : stdout);
    exit(status);
}

/* Run one entry to its end; the time in nanoseconds. `actions` may be NULL. */
static int64_t run_entry(const struct entry *entry, const posix_spawn_file_actions_t *actions)
{
    extern char **environ;
    int64_t start = bench_now();
    int64_t end;
    int status;
    pid_t pid;
    int r = posix_spawnp(&pid, entry->argv[0], actions, NULL, entry->argv, environ);

    if (r != 0) {
        errno = r;
        err(1, "%s: cannot start %s", entry->name, entry->argv[0]);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            err(1, "%s: waitpid for process %d", entry->name, (int)pid);
    end = bench_now();
    if (WIFSIGNALED(status))
        errx(1, "%s: %s was ended by signal %d", entry->name, entry->argv[0], WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        errx(1, "%s: %s ended with status %d, 0 is expected", entry->name, entry->argv[0],
             WEXITSTATUS(status));
    return end - start;
}

/* Every entry once a round, the entries shuffled (Fisher and Yates) anew each round. */
static void run_rounds(struct entry *entries, size_t n, long rounds, const posix_spawn_file_actions_t *quiet)
{
    size_t *order = calloc(n, sizeof(*order));

    if (!order)
        err(1, "memory for the order of %zu prefixes", n);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    srandom(SEED);
    for (long round = 0; round < rounds; round++) {
        for (size_t i = n - 1; i > 0; i--) {
            size_t other = (size_t)random() % (i + 1);
            size_t kept = order[i];

            order[i] = order[other];
            order[other] = kept;
        }
        for (size_t i = 0; i < n; i++)
            entries[order[i]].samples[round] = run_entry(&entries[order[i]], quiet);
    }
    free(order);
}

/* The entry of one prefix of `length` words, put before the command. */
static struct entry make_entry(const char *name, char **prefix, size_t length, char *command, long rounds)
{
    struct entry entry = {.name = name, .argv = calloc(length + 2, sizeof(char *))};

    if (!entry.argv)
        err(1, "memory for the arguments of %s", name);
    memcpy(entry.argv, prefix, length * sizeof(char *));
    entry.argv[length] = command;
    entry.samples = bench_samples((size_t)rounds);
    return entry;
}

/* Fill entries from `words` (NULL at the end), those after the options; how many there are. */
static size_t parse_entries(char **words, struct entry *entries, long rounds)
{
    char *command = *words++;
    size_t n = 0;

    entries[n++] = make_entry("direct", words, 0, command, rounds);
    while (*words) {
        size_t length = 0;
        char **prefix = words + 2;

        if (strcmp(words[0], "::") != 0)
            errx(2, "'%s' after the command: a prefix begins with ::", words[0]);
        if (!words[1] || !*prefix || !strcmp(*prefix, "::"))
            errx(2, "'::' number %zu: a name and a prefix must follow", n);
        while (prefix[length] && strcmp(prefix[length], "::") != 0)
            length++;
        entries[n++] = make_entry(words[1], prefix, length, command, rounds);
        words = prefix + length;
    }
    return n;
}

static long parse_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"rounds", required_argument, NULL, 'r'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    long rounds = DEFAULT_ROUNDS;
    int option;

    while ((option = getopt_long(argc, argv, "+r:h", options, NULL)) != -1) {
        switch (option) {
        case 'r': rounds = bench_count("--rounds", optarg, MOST_ROUNDS); break;
        case 'h': usage(0);
        default: usage(2);
        }
    }
    if (optind >= argc)
        usage(2);
    return rounds;
}

int main(int argc, char **argv)
{
    long rounds = parse_options(argc, argv);
    struct entry *entries = calloc((size_t)argc, sizeof(*entries)); /* each takes at least a word */
    posix_spawn_file_actions_t quiet;
    size_t n;
    int r;

    if (!entries)
        err(1, "memory for the prefixes");
    n = parse_entries(argv + optind, entries, rounds);
    for (size_t i = 0; i < n; i++)
        run_entry(&entries[i], NULL);
    r = posix_spawn_file_actions_init(&quiet);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (r != 0)
        errx(1, "spawn actions for /dev/null: %s", strerror(r));
    run_rounds(entries, n, rounds, &quiet);
    posix_spawn_file_actions_destroy(&quiet);
    for (size_t i = 0; i < n; i++) {
        printf("%s\t%.2f\n", entries[i].name, bench_median_us(entries[i].samples, (size_t)rounds));
        free(entries[i].argv);
        free(entries[i].samples);
    }
    free(entries);
    if (fflush(stdout) != 0)
        err(1, "cannot write the result to stdout");
    return 0;
}
