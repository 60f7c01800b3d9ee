/* The supervisor's capabilities. Between two calls it has no more than it needs; the workload keeps what it
 * was started with. */
#ifndef FDFIT_LAUNCHER_INIT_CAPS_H
#define FDFIT_LAUNCHER_INIT_CAPS_H

#include <stdbool.h>
#include <stdint.h>

/** A thread's sets, one bit a capability (capabilities(7)). */
struct caps {
    uint64_t effective, permitted, inheritable;
};

/** Read the caller's sets. Returns 0 or -errno. */
int caps_get(struct caps *ret);

/** Drop every capability of this process but KILL, SETUID, SETGID, SYS_PTRACE, DAC_OVERRIDE and SYS_RESOURCE,
 * those that are held. Called by the supervisor after the fork.
 *
 * `clamps` is true where it answers for lock = clamp. Without SYS_PTRACE the kernel then lets it read the
 * memory of a process only if it holds whatever that process may hold (security/commoncap.c,
 * cap_ptrace_access_check), so the permitted set stays, and caps_raise() takes it for the one open(2).
 * Returns 0 or -errno; then nothing was dropped. */
int caps_drop(bool clamps);

/** Make everything that is permitted effective; caps_set() what caps_get() gave before ends it. Return 0 or
 * -errno. */
int caps_raise(void);
int caps_set(const struct caps *caps);

#endif
