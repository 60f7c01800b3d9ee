#include "launcher/install.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h> /* rename(2) */
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct copy {
    char target[PATH_MAX];
    char temporary[PATH_MAX + 32];
    uint64_t bytes;
};

static int copy_bytes(int from, int to, uint64_t *ret_bytes)
{
    char block[16384];
    uint64_t bytes = 0;

    for (;;) {
        ssize_t n = fd_read(from, block, sizeof(block));
        int r;

        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        r = fd_write_all(to, block, (size_t)n);
        if (r < 0)
            return r;
        bytes += (uint64_t)n;
    }
    *ret_bytes = bytes;
    return 0;
}

/* fchmod, since the umask must not decide who may run it; fsync, so that the name never stands for an empty
 * file. */
static int finish(int fd, const struct copy *copy)
{
    int r = sys_fchmod(fd, 0755);

    if (r < 0)
        return r;
    if (fsync(fd) < 0 || rename(copy->temporary, copy->target) < 0)
        return -errno;
    return 0;
}

static int open_self(void)
{
    int fd = fd_open(AT_FDCWD, "/proc/self/exe", O_RDONLY, 0);
    const char *name = (const char *)getauxval(AT_EXECFN);

    if (fd < 0 && name) /* no /proc: the path that this program was executed by */
        fd = fd_open(AT_FDCWD, name, O_RDONLY, 0);
    return fd;
}

static int resolve(const char *dest, struct copy *copy)
{
    struct text target, temporary;
    struct stat st;
    size_t n = strlen(dest);
    bool folder =
        n > 0 && (dest[n - 1] == '/' || (sys_stat(AT_FDCWD, dest, 0, &st) == 0 && S_ISDIR(st.st_mode)));

    if (n == 0 || n + sizeof("/fdfit") > sizeof(copy->target))
        return n == 0 ? -ENOENT : -ENAMETOOLONG;
    text_init(&target, copy->target, sizeof(copy->target));
    text_join(&target, dest, folder ? (dest[n - 1] == '/' ? "fdfit" : "/fdfit") : "", NULL);
    text_init(&temporary, copy->temporary, sizeof(copy->temporary));
    text_join(&temporary, copy->target, ".new.", NULL);
    text_u64(&temporary, (uint64_t)getpid());
    return 0;
}

static int copy_self(struct copy *copy)
{
    int from = open_self(), to, r;

    if (from < 0)
        return from;
    /* A leftover of a start that was killed, under the same number: ours to replace. O_EXCL: nobody else's
     * link. */
    unlink(copy->temporary);
    to = fd_open(AT_FDCWD, copy->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0700);
    if (to >= 0) {
        r = copy_bytes(from, to, &copy->bytes);
        if (r == 0)
            r = finish(to, copy);
        fd_close(to);
        if (r < 0)
            unlink(copy->temporary);
    } else {
        r = to;
    }
    fd_close(from);
    return r;
}

int install_self(const char *dest, struct text *ret_line, struct text *reterr)
{
    struct copy copy;
    int r = resolve(dest, &copy);

    if (r == 0)
        r = copy_self(&copy);
    if (r < 0) {
        /* A name that is too long for a path may be too long for the line, and hide the reason. */
        text_str(reterr, "can't install");
        if (r != -ENAMETOOLONG)
            text_join(reterr, " to ", dest, NULL);
        text_join(reterr, ": ", err_text(-r), NULL);
        return r;
    }
    text_join(ret_line, "installed ", copy.target, " (", NULL);
    text_u64(ret_line, copy.bytes);
    text_str(ret_line, " bytes)");
    return 0;
}
