/* System calls that a libc hides, changes or lacks (musl has no close_range; glibc's wrappers differ by
 * version), or whose wrapper brings along much that a program of one thread has no use for: musl's fork(3)
 * takes the locks of threads, its clock_gettime(3) parses the vDSO, and others work around kernels
 * before 2.6.27. */
#ifndef FDFIT_BASE_SYS_H
#define FDFIT_BASE_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

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

/** fork(2) without the handlers of pthread_atfork(3). Returns the child's pid, 0 in the child, or -errno. */
pid_t sys_fork(void);

/** sendmsg(2) and recvmsg(2). The message and its control data must have been zeroed as a whole before they
 * were filled: musl has padding in them that the kernel reads. Return the bytes, or -errno. */
ssize_t sys_sendmsg(int socket, const struct msghdr *message, int flags);
ssize_t sys_recvmsg(int socket, struct msghdr *message, int flags);

/** socketpair(2) of AF_UNIX. Returns 0 or -errno. */
int sys_socketpair(int type, int ret[2]);

/** prctl(2) of an operation with one value. Returns what it gives, or -errno. */
int sys_prctl(int operation, unsigned long value);

/** clock_gettime(2) of a clock that every kernel has, in nanoseconds. */
uint64_t sys_clock(clockid_t clock);

/** fstatat(2); of the descriptor `dir` itself with path "" and AT_EMPTY_PATH. Returns 0 or -errno. */
int sys_stat(int dir, const char *path, int flags, struct stat *ret);

/** fchmod(2). Returns 0 or -errno. */
int sys_fchmod(int fd, mode_t mode);

/** Read fs.nr_open, the most that any RLIMIT_NOFILE may be (proc(5), kernel/sys.c do_prlimit).
 *  Returns 0 or -errno (no /proc). */
int sys_nr_open(uint64_t *ret);

#endif
