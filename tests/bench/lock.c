/*
 * What the lock costs the workload, seen from inside: started below a launcher (or not), it times an
 * unrelated system call and a call that sets nofile to what it is.
 *
 *     lock [-f] CALLS SETS
 *
 * With -f it first loads a filter that lets every call pass: what the least of all filters costs here.
 * Prints `CALL_NS<tab>SET_US`, each the least mean of 10 parts, so that a slow moment of the machine does not
 * count. Status: 0, 1 when the limit can't be read, 2 for wrong arguments. A call that is refused is timed
 * all the same.
 */
#include "bench.h"

#include <err.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PARTS = 200, MOST = 100000000 };

struct limit64 {
    uint64_t soft, hard;
};

/* Raw calls: libc may answer some by itself. */
static void call_unrelated(const struct limit64 *limit)
{
    (void)limit;
    syscall(SYS_getppid);
}

static void set_limit(const struct limit64 *limit)
{
    syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, limit, NULL);
}

/* Nanoseconds a call. */
static double least_mean(void (*call)(const struct limit64 *), const struct limit64 *limit, long calls)
{
    double least = 0;

    for (int part = 0; part < PARTS; part++) {
        int64_t start = bench_now();
        double mean;

        for (long i = 0; i < calls; i++)
            call(limit);
        mean = (double)(bench_now() - start) / (double)calls;
        if (part == 0 || mean < least)
            least = mean;
    }
    return least;
}

static void load_least_filter(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = 1, .filter = &allow};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) < 0)
        err(1, "cannot load a filter");
}

int main(int argc, char **argv)
{
    struct limit64 limit;
    long calls, sets;

    if (argc == 4 && strcmp(argv[1], "-f") == 0) {
        load_least_filter();
        argv++;
        argc--;
    }
    if (argc != 3)
        errx(2, "usage: lock [-f] CALLS SETS");
    calls = bench_count("CALLS", argv[1], MOST);
    sets = bench_count("SETS", argv[2], MOST);
    if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) < 0)
        err(1, "cannot read the nofile limit");
    printf("%.1f\t%.2f\n", least_mean(call_unrelated, &limit, calls),
           least_mean(set_limit, &limit, sets) / 1000);
    return 0;
}
