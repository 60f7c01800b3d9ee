/* Descriptors of our own: always 3 or higher and CLOEXEC, so that a start with 0, 1 or 2 closed never puts a
 * file of ours where the workload, or our own messages, would use it. */
#ifndef FDFIT_BASE_FD_H
#define FDFIT_BASE_FD_H

#include <stddef.h>
#include <sys/types.h>

/** Move a descriptor that the caller has just got to 3 or higher, CLOEXEC; the old one is closed when it
 * moves. Takes a negative value (a failed call's, with errno set) and passes it on as -errno. Returns the
 * descriptor or -errno. */
int fd_own(int fd);

/** openat(2) with O_CLOEXEC | O_NOCTTY added, moved by fd_own. Returns a descriptor or -errno. */
int fd_open(int dir, const char *path, int flags, mode_t mode);

/** read(2) that is not interrupted. Returns the bytes read, 0 at the end, or -errno. */
ssize_t fd_read(int fd, void *buffer, size_t cap);

/** Read fd to its end. Returns 0 and the length, -EFBIG when more than cap bytes come, or -errno. */
int fd_read_all(int fd, char *buffer, size_t cap, size_t *ret_len);

/** Open a file below dir, read it whole, close it: for the small files of /proc and /sys. Returns as
 * fd_read_all. */
int fd_read_file(int dir, const char *path, char *buffer, size_t cap, size_t *ret_len);

/** The same, but a file that is longer than the buffer gives its beginning, by one read: the files of /proc
 * are made as a whole at the first. Returns 0 or -errno. */
int fd_read_beginning(int dir, const char *path, char *buffer, size_t cap, size_t *ret_len);

/** Write all n bytes. Returns 0 or -errno. */
int fd_write_all(int fd, const char *bytes, size_t n);

/** close(2) unless fd is negative. Always returns -1, the empty value: fd = fd_close(fd). */
int fd_close(int fd);

#endif
