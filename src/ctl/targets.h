/* The processes that a command is about: by pid, by name or by cgroup, with or without their descendants. */
#ifndef FDFIT_CTL_TARGETS_H
#define FDFIT_CTL_TARGETS_H

#include "base/sys.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TARGETS_MAX 64 /* pids on one command line */

/** One process that was named by its pid. The start time tells it from a later one of the same number. */
struct target {
    pid_t pid;
    uint64_t start; /* clock ticks since boot */
    int pidfd;      /* owned; readable when the process has ended; -1 where the kernel has none (Linux 5.3) */
    bool ended;
};

struct targets {
    int proc; /* owned: an open /proc */
    bool tree;
    const char *name;   /* borrowed: every process whose comm is that */
    const char *cgroup; /* borrowed: every process in that cgroup, and in those below it */
    struct target pid[TARGETS_MAX];
    size_t count;
};

/** An empty set with /proc opened. Returns 0 or a negative error with reterr. */
int targets_init(struct targets *t, struct text *reterr);
void targets_deinit(struct targets *t);

/** Read the pids on a command line. Returns 0; -EINVAL (not a pid) or -ESRCH (no such process), or another
 * negative error, with reterr. */
int targets_pids(struct targets *t, char **words, int count, struct text *reterr);

/** Call each(pid, data) for every process that there is now; one may be named twice. Sets *ret_count to how
 * many. Returns 0, or a negative error with reterr (the cgroup can't be read). */
int targets_each(struct targets *t, void (*each)(pid_t pid, void *data), void *data, size_t *ret_count,
                 struct text *reterr);

/** True when all were named by pid, and have ended. */
bool targets_ended(const struct targets *t);

/** Append what they are: "pid 12, 13 and descendants", "processes named 'java'", "cgroup /a/b". */
void targets_format(const struct targets *t, struct text *text);

/** The nofile pair from /proc/PID/limits, which needs no privilege. Returns 0 or -errno (-EBADMSG: no such
 * line). */
int target_limits(int proc, pid_t pid, struct nofile *ret);

#endif
