#include "base/sys.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* the same number on every architecture (since Linux 5.9) */
#endif

int sys_prlimit_nofile(pid_t pid, const struct nofile *set, struct nofile *ret_old)
{
    if (syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, set, ret_old) < 0)
        return -errno;
    return 0;
}

int sys_close_range(unsigned first, unsigned last)
{
    if (syscall(SYS_close_range, first, last, 0) < 0)
        return -errno;
    return 0;
}

ssize_t sys_getdents(int fd, void *buffer, size_t size)
{
    ssize_t n = syscall(SYS_getdents64, fd, buffer, size);

    return n < 0 ? -errno : n;
}

/* The same arguments on every architecture but s390, since all but the first are 0. */
pid_t sys_fork(void)
{
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    return pid < 0 ? -errno : (pid_t)pid;
}

ssize_t sys_sendmsg(int socket, const struct msghdr *message, int flags)
{
    ssize_t n = syscall(SYS_sendmsg, socket, message, flags);

    return n < 0 ? -errno : n;
}

ssize_t sys_recvmsg(int socket, struct msghdr *message, int flags)
{
    ssize_t n = syscall(SYS_recvmsg, socket, message, flags);

    return n < 0 ? -errno : n;
}

int sys_socketpair(int type, int ret[2])
{
    return syscall(SYS_socketpair, AF_UNIX, type, 0, ret) < 0 ? -errno : 0;
}

int sys_prctl(int operation, unsigned long value)
{
    long r = syscall(SYS_prctl, operation, value, 0, 0, 0);

    return r < 0 ? -errno : (int)r;
}

uint64_t sys_clock(clockid_t clock)
{
    long t[2] = {0, 0}; /* seconds and nanoseconds: this call's timespec is of longs, whatever libc's is */

    syscall(SYS_clock_gettime, clock, t);
    return (uint64_t)t[0] * 1000000000 + (uint64_t)t[1];
}

int sys_stat(int dir, const char *path, int flags, struct stat *ret)
{
#ifdef SYS_newfstatat /* 64 bits: libc's struct stat is the kernel's */
    return syscall(SYS_newfstatat, dir, path, ret, flags) < 0 ? -errno : 0;
#else
    return fstatat(dir, path, ret, flags) < 0 ? -errno : 0;
#endif
}

int sys_fchmod(int fd, mode_t mode)
{
    return syscall(SYS_fchmod, fd, mode) < 0 ? -errno : 0;
}

int sys_nr_open(uint64_t *ret)
{
    char digits[32];
    size_t n;
    int r = fd_read_file(AT_FDCWD, "/proc/sys/fs/nr_open", digits, sizeof(digits), &n);

    if (r < 0)
        return r;
    if (n > 0 && digits[n - 1] == '\n')
        n--;
    return num_parse(digits, n, ret);
}
