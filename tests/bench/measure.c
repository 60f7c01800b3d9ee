/* What a sample costs: measure [--rounds N] [--lsof PATH] PROCESSES DESCRIPTORS
 *
 * Starts so many processes with so many open descriptors each, and measures all of them in turns by each way:
 * a sample of the meter (nothing changed since the last), its first sample (everything is new), the highest
 * number of each by one question (a table without gaps) and by halving, a plain listing of each /proc/PID/fd,
 * and lsof. Prints a line for each way, its name and the median in microseconds with a tab between. */
#include "bench.h"

#include "base/fd.h"
#include "base/sys.h"
#include "measure/fds.h"
#include "measure/peak.h"

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct bench {
    pid_t *pids;
    size_t count;
    long descriptors;
    int proc;
    const char *lsof;
    char *lsof_pids; /* its argument: "1,2,3" */
    struct peak_meter meter;
    struct peak_entry *memory;
} b;

static void be_victim(int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(ready, 0) < 0 || sys_close_range(3, UINT_MAX) < 0) /* whatever was inherited */
        _exit(1);
    ready = 0;
    while (fcntl(ready, F_DUPFD, 0) < b.descriptors - 1)
        ;
    if (write(ready, "r", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void start_victims(void)
{
    int ends[2];
    char byte;

    if (pipe(ends) < 0)
        err(1, "pipe");
    for (size_t i = 0; i < b.count; i++) {
        b.pids[i] = fork();
        if (b.pids[i] < 0)
            err(1, "fork");
        if (b.pids[i] == 0)
            be_victim(ends[1]);
        if (read(ends[0], &byte, 1) != 1)
            errx(1, "a process could not open %ld descriptors: see ulimit -n", b.descriptors);
    }
    close(ends[0]);
    close(ends[1]);
}

static void stop_victims(void)
{
    for (size_t i = 0; i < b.count; i++)
        kill(b.pids[i], SIGKILL);
    for (size_t i = 0; i < b.count; i++)
        waitpid(b.pids[i], NULL, 0);
}

static void begin_meter(void)
{
    const struct peak_config config = {.proc = b.proc, .soft = UINT64_MAX, .interval = 1000, .warn_at = 80};

    memset(b.memory, 0, PEAK_ENTRIES * sizeof(*b.memory));
    if (peak_meter_init(&b.meter, &config, b.memory, PEAK_ENTRIES) < 0)
        errx(1, "peak_meter_init");
}

static void sample(void)
{
    peak_meter_begin(&b.meter, 0);
    for (size_t i = 0; i < b.count; i++)
        peak_meter_add(&b.meter, b.pids[i]);
    peak_meter_end(&b.meter);
    if (b.meter.result.need != (uint64_t)b.descriptors || b.meter.result.processes != b.count)
        errx(1, "the meter saw %lu processes that need %lu", (unsigned long)b.meter.result.processes,
             (unsigned long)b.meter.result.need);
}

static void first_sample(void)
{
    begin_meter();
    sample();
}

static void highest(uint64_t guess)
{
    uint64_t need;

    for (size_t i = 0; i < b.count; i++)
        if (process_need(b.proc, b.pids[i], 0, 65536, guess, &need) != 0 || need != (uint64_t)b.descriptors)
            errx(1, "process_need");
}

static void highest_by_count(void)
{
    highest((uint64_t)b.descriptors);
}

static void highest_by_halving(void)
{
    highest(0);
}

static void listing(void)
{
    for (size_t i = 0; i < b.count; i++) {
        uint64_t count, last = 0;
        char path[64];
        int dir;

        snprintf(path, sizeof(path), "%d/fd", (int)b.pids[i]);
        dir = fd_open(b.proc, path, O_RDONLY | O_DIRECTORY, 0);
        if (dir < 0 || fds_from(dir, 0, -1, -1, &count, &last) < 0 || last + 1 != (uint64_t)b.descriptors)
            errx(1, "%s", path);
        fd_close(dir);
    }
}

/* With a low limit, so that its own close loop does not count, and without what it looks up beyond
 * descriptors. */
static void lsof(void)
{
    char *argv[] = {(char *)(uintptr_t)b.lsof, (char *)(uintptr_t) "-nPw", (char *)(uintptr_t) "-p",
                    b.lsof_pids, NULL};
    posix_spawn_file_actions_t actions;
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, b.lsof, &actions, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) < 0 ||
        status != 0)
        errx(1, "%s failed", b.lsof);
    posix_spawn_file_actions_destroy(&actions);
}

static const struct way {
    const char *name;
    void (*run)(void);
    unsigned every; /* in how many rounds it runs once */
} ways[] = {
    {"first", first_sample, 1},         {"sample", sample, 1},   {"count", highest_by_count, 1},
    {"halving", highest_by_halving, 1}, {"listing", listing, 1}, {"lsof", lsof, 10},
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void measure(long rounds)
{
    int64_t *samples[WAYS];
    size_t taken[WAYS] = {0};

    for (size_t w = 0; w < WAYS; w++)
        samples[w] = bench_samples((size_t)rounds);
    for (long round = 0; round < rounds; round++)
        for (size_t w = 0; w < WAYS; w++) {
            int64_t began;

            if ((ways[w].run == lsof && !b.lsof) || round % ways[w].every != 0)
                continue;
            began = bench_now();
            ways[w].run();
            samples[w][taken[w]++] = bench_now() - began;
        }
    for (size_t w = 0; w < WAYS; w++) {
        if (taken[w] > 0)
            printf("%s\t%.2f\n", ways[w].name, bench_median_us(samples[w], taken[w]));
        free(samples[w]);
    }
}

static void prepare(const char *processes, const char *descriptors)
{
    struct rlimit limit;
    size_t used = 0, room;

    b.count = (size_t)bench_count("PROCESSES", processes, PEAK_ENTRIES * 7 / 8);
    b.descriptors = bench_count("DESCRIPTORS", descriptors, 60000);
    room = b.count * 12 + 1;
    b.pids = calloc(b.count, sizeof(*b.pids));
    b.memory = calloc(PEAK_ENTRIES, sizeof(*b.memory));
    b.lsof_pids = malloc(room);
    b.proc = fd_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);
    if (!b.pids || !b.memory || !b.lsof_pids || b.proc < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(1, "memory and /proc");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    start_victims();
    limit.rlim_cur = 1024;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (size_t i = 0; i < b.count; i++)
        used += (size_t)snprintf(b.lsof_pids + used, room - used, "%s%d", i ? "," : "", (int)b.pids[i]);
}

int main(int argc, char **argv)
{
    long rounds = 100;
    int at = 1;

    for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
        if (strcmp(argv[at], "--rounds") == 0)
            rounds = bench_count("--rounds", argv[at + 1], 1000000);
        else if (strcmp(argv[at], "--lsof") == 0)
            b.lsof = argv[at + 1];
        else
            errx(2, "no option %s", argv[at]);
    if (argc - at != 2)
        errx(2, "usage: measure [--rounds N] [--lsof PATH] PROCESSES DESCRIPTORS");
    prepare(argv[at], argv[at + 1]);
    begin_meter();
    measure(rounds);
    stop_victims();
    free(b.pids);
    free(b.memory);
    free(b.lsof_pids);
    fd_close(b.proc);
    return 0;
}
