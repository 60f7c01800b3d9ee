#include "base/sys.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"

#include <fcntl.h>
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
