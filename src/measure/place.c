#include "measure/place.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h> /* renameat(2), of all places */
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LOCK_ENDING ".lock"
#define NEW_ENDING  ".new"

/* A name beside the file's: room for the longest ending. */
#define BESIDE (NAME_MAX + 8)

static int failed(struct text *reterr, const char *what, int error)
{
    text_join(reterr, "can't be written: ", what, ": ", err_text(error), NULL);
    return -error;
}

static int copy_name(const char *name, struct place *place, struct text *reterr)
{
    size_t n = strlen(name);

    if (n == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        text_str(reterr, "names a folder, not a file");
        return -EINVAL;
    }
    if (n > NAME_MAX - strlen(LOCK_ENDING)) {
        text_str(reterr, "has too long a name: at most 250 bytes");
        return -EINVAL;
    }
    memcpy(place->name, name, n + 1);
    return 0;
}

int place_open(const char *path, struct place *ret, struct text *reterr)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    struct place place;
    int r = copy_name(slash ? slash + 1 : path, &place, reterr);

    if (r < 0)
        return r;
    if (slash && (size_t)(slash - path) + 1 >= sizeof(folder)) {
        text_str(reterr, "has too long a path");
        return -EINVAL;
    }
    if (slash) {
        memcpy(folder, path, (size_t)(slash - path) + 1);
        folder[slash - path + 1] = '\0';
    }
    place.folder = fd_open(AT_FDCWD, folder, O_PATH | O_DIRECTORY, 0);
    if (place.folder < 0) {
        text_join(reterr, "can't be written: its folder can't be opened: ", err_text(-place.folder), NULL);
        return place.folder;
    }
    *ret = place;
    return 0;
}

void place_close(struct place *place)
{
    place->folder = fd_close(place->folder);
}

/* flock(2) holds on to a file, not to its name: a lock file that somebody removed locks nobody out. */
static bool is_still_named(const struct place *place, const char *name, int fd)
{
    struct stat open, named;

    return sys_stat(fd, "", AT_EMPTY_PATH, &open) == 0 &&
           sys_stat(place->folder, name, AT_SYMLINK_NOFOLLOW, &named) == 0 && open.st_ino == named.st_ino &&
           open.st_dev == named.st_dev;
}

static int lock_regular(const struct place *place, const char *name, int fd)
{
    struct stat st;
    int r = sys_stat(fd, "", AT_EMPTY_PATH, &st);

    if (r < 0)
        return r;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    return is_still_named(place, name, fd) ? 0 : -EBUSY;
}

int place_lock(const struct place *place, struct text *reterr)
{
    char buffer[BESIDE];
    TEXT_ON(name, buffer);
    int fd, r;

    text_join(&name, place->name, LOCK_ENDING, NULL);
    fd = fd_open(place->folder, name.at, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0644);
    r = fd < 0 ? fd : lock_regular(place, name.at, fd);
    if (r >= 0)
        return fd;
    fd_close(fd);
    return r == -EBUSY ? r : failed(reterr, name.at, -r);
}

/* Under the lock nobody else writes NAME.new: one that is there was left by a writer that died. */
static int write_new(const struct place *place, const char *name, const char *bytes, size_t n)
{
    int fd, r;

    if (unlinkat(place->folder, name, 0) < 0 && errno != ENOENT)
        return -errno;
    fd = fd_open(place->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0)
        return fd;
    sys_fchmod(fd, 0644); /* whatever the umask: a collector, or fdfitctl, reads as another user */
    r = fd_write_all(fd, bytes, n);
    if (close(fd) < 0 && r == 0) /* some network file systems tell of a full disk only here */
        r = -errno;
    return r;
}

static bool may_replace(const struct place *place)
{
    struct stat st;

    return sys_stat(place->folder, place->name, AT_SYMLINK_NOFOLLOW, &st) < 0 || S_ISREG(st.st_mode);
}

int place_replace(const struct place *place, const char *bytes, size_t n, struct text *reterr)
{
    char buffer[BESIDE];
    TEXT_ON(name, buffer);
    int r;

    if (!may_replace(place)) {
        text_str(reterr, "is not a regular file");
        return -EINVAL;
    }
    text_join(&name, place->name, NEW_ENDING, NULL);
    r = write_new(place, name.at, bytes, n);
    if (r == 0 && renameat(place->folder, name.at, place->folder, place->name) < 0)
        r = -errno;
    if (r == 0)
        return 0;
    unlinkat(place->folder, name.at, 0);
    return failed(reterr, name.at, -r);
}

int place_write(const struct place *place, const char *bytes, size_t n, struct text *reterr)
{
    int lock = place_lock(place, reterr);
    int r;

    if (lock < 0)
        return lock == -EBUSY ? PLACE_BUSY : lock;
    r = place_replace(place, bytes, n, reterr);
    fd_close(lock);
    return r;
}

int regular_read(int dir, const char *path, int flags, char *buffer, size_t cap, size_t *ret_n,
                 struct text *reterr)
{
    int fd = fd_open(dir, path, O_RDONLY | O_NONBLOCK | flags, 0);
    struct stat st;
    int r;

    if (fd == -ENOENT)
        return fd;
    if (fd == -ELOOP || (fd >= 0 && sys_stat(fd, "", AT_EMPTY_PATH, &st) == 0 && !S_ISREG(st.st_mode))) {
        text_str(reterr, "is not a regular file");
        r = -EINVAL;
    } else {
        r = fd < 0 ? fd : fd_read_all(fd, buffer, cap, ret_n);
        if (r < 0)
            text_str(reterr, err_text(-r));
    }
    fd_close(fd);
    return r;
}

int place_read(const struct place *place, char *buffer, size_t cap, size_t *ret_n, struct text *reterr)
{
    return regular_read(place->folder, place->name, O_NOFOLLOW, buffer, cap, ret_n, reterr);
}
