#include "base/fd.h"

#include "base/err.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

int fd_own(int fd)
{
    int moved;

    if (fd < 0)
        return -errno;
    if (fd > 2)
        return fd;
    moved = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
    if (moved < 0)
        moved = -errno;
    close(fd);
    return moved;
}

int fd_open(int dir, const char *path, int flags, mode_t mode)
{
    return fd_own((int)syscall(SYS_openat, dir, path, flags | O_CLOEXEC | O_NOCTTY | O_LARGEFILE, mode));
}

ssize_t fd_read(int fd, void *buffer, size_t cap)
{
    ssize_t n;

    do
        n = read(fd, buffer, cap);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

int fd_read_all(int fd, char *buffer, size_t cap, size_t *ret_len)
{
    size_t len = 0;

    for (;;) {
        char one_more;
        bool full = len == cap;
        ssize_t n = full ? fd_read(fd, &one_more, 1) : fd_read(fd, buffer + len, cap - len);

        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        if (full)
            return -EFBIG;
        len += (size_t)n;
    }
    *ret_len = len;
    return 0;
}

int fd_read_file(int dir, const char *path, char *buffer, size_t cap, size_t *ret_len)
{
    int fd = fd_open(dir, path, O_RDONLY, 0);
    int r;

    if (fd < 0)
        return fd;
    r = fd_read_all(fd, buffer, cap, ret_len);
    fd_close(fd);
    return r;
}

int fd_read_beginning(int dir, const char *path, char *buffer, size_t cap, size_t *ret_len)
{
    int fd = fd_open(dir, path, O_RDONLY, 0);
    ssize_t n;

    if (fd < 0)
        return fd;
    n = fd_read(fd, buffer, cap);
    fd_close(fd);
    if (n < 0)
        return (int)n;
    *ret_len = (size_t)n;
    return 0;
}

int fd_write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        bytes += written;
        n -= (size_t)written;
    }
    return 0;
}

int fd_close(int fd)
{
    if (fd >= 0)
        close(fd);
    return -1;
}
