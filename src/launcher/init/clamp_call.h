/* What a workload asked for and what it gets: the pure half of lock = clamp. */
#ifndef FDFIT_LAUNCHER_INIT_CLAMP_CALL_H
#define FDFIT_LAUNCHER_INIT_CLAMP_CALL_H

#include "base/sys.h"

#include <linux/seccomp.h>
#include <stdbool.h>

/** One call that sets nofile, whichever system call interface it came by. */
struct clamp_call {
    pid_t pid;          /* whose limit, as the caller numbers processes; 0 is itself */
    uint64_t new_at;    /* address of the new limit in the caller's memory */
    uint64_t old_at;    /* address for the old one, or 0 */
    unsigned char size; /* of the struct there: 16, or 8 where its fields have 32 bits */
};

/** Read the call's registers. Returns 0, or -ENOSYS for a call that the filter does not ask about. */
int clamp_decode(const struct seccomp_data *data, struct clamp_call *ret);

/** The limit in the size bytes of a struct rlimit or rlimit64; all ones of 32 bits are "unlimited" too
 * (kernel/sys.c, COMPAT_RLIM_INFINITY). */
struct nofile clamp_asked(const unsigned char *bytes, unsigned char size);

struct clamp_decision {
    int error;         /* 0, or the negative error to answer */
    struct nofile old; /* what stood before */
    struct nofile set; /* without error: what to set */
    bool cut;          /* it is less than what was asked */
};

/** Decide: the lesser of what was asked and the ceiling, soft and hard apart. As in the kernel soft above
 * hard is -EINVAL, and raising one's own hard limit is -EPERM: also with CAP_SYS_RESOURCE, since the
 * supervisor can't tell whether a process's capability counts (one in a user namespace does not). */
struct clamp_decision clamp_decide(const struct nofile *asked, const struct nofile *current,
                                   const struct nofile *ceiling);

/** Who a thread is, from its /proc/PID/status. */
struct clamp_status {
    pid_t tgid;     /* its process, as the reader of /proc numbers it */
    pid_t own_tgid; /* the same as it numbers itself, in its own pid namespace, */
    pid_t own_tid;  /* and its thread */
    bool nested;    /* in a pid namespace below the one of /proc */
    uid_t uid;      /* real */
    gid_t gid;
};

/** Parse the n bytes of a /proc/PID/status. Returns 0, or -EINVAL when a line is missing or not as in
 * proc(5). */
int clamp_parse_status(const char *bytes, size_t n, struct clamp_status *ret);

#endif
