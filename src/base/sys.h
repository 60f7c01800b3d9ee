/* System calls that a libc hides, changes or lacks (musl has no close_range; glibc's wrappers differ by
 * version). */
#ifndef FDFIT_BASE_SYS_H
#define FDFIT_BASE_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A soft and a hard limit of RLIMIT_NOFILE, as the kernel's struct rlimit64: UINT64_MAX is "unlimited". */
struct nofile {
    uint64_t soft;
    uint64_t hard;
};

/** prlimit64(2) on RLIMIT_NOFILE: set `set` unless it is NULL, give what stood before in `ret_old` unless
 * NULL. pid 0 is the caller. Returns 0 or -errno. */
int sys_prlimit_nofile(pid_t pid, const struct nofile *set, struct nofile *ret_old);

/** close_range(2). Returns 0 or -errno; an engine's seccomp profile may refuse it with any error. */
int sys_close_range(unsigned first, unsigned last);

/** getdents64(2). Returns the bytes read, 0 at the end, or -errno. */
ssize_t sys_getdents(int fd, void *buffer, size_t size);

/** Read fs.nr_open, the most that any RLIMIT_NOFILE may be (proc(5), kernel/sys.c do_prlimit).
 *  Returns 0 or -errno (no /proc). */
int sys_nr_open(uint64_t *ret);

#endif
