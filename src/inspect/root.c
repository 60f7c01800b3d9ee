#include "inspect/root.h"

#include "base/dir.h"
#include "base/err.h"
#include "base/fd.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_own(const struct root *root)
{
    return strcmp(root->path, "/") == 0;
}

int root_open_path(const struct root *root, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    long fd = syscall(SYS_openat2, root->dir, path, &how, sizeof(how));

    /* Linux before 5.6, or a filter that does not know the call: our own root needs no care. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM) && is_own(root))
        return fd_open(root->dir, path, flags | O_NONBLOCK, 0);
    return fd_own((int)fd);
}

int root_open(const char *path, struct root *ret, struct text *reterr)
{
    struct root root = {.path = path, .proc = -1};

    root.dir = fd_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (root.dir < 0) {
        text_str(reterr, "root ");
        text_quoted(reterr, path, strlen(path));
        text_join(reterr, " can't be opened: ", err_text(-root.dir), NULL);
        return root.dir;
    }
    root.proc = root_open_path(&root, "/proc", O_RDONLY | O_DIRECTORY);
    if (root.proc < 0)
        root.proc = -1;
    *ret = root;
    return 0;
}

void root_close(struct root *root)
{
    root->dir = fd_close(root->dir);
    root->proc = fd_close(root->proc);
}

/* Read to the end into a growing buffer: a file of /proc has no size before it was read. */
static int read_whole(int fd, char **ret_bytes, size_t *ret_n)
{
    size_t cap = 4096, n = 0;
    char *bytes = malloc(cap);

    while (bytes) {
        ssize_t got = fd_read(fd, bytes + n, cap - n - 1);
        char *larger;

        if (got <= 0 || n + (size_t)got > ROOT_FILE_MAX) {
            if (got == 0) {
                bytes[n] = '\0';
                *ret_bytes = bytes;
                *ret_n = n;
                return 0;
            }
            free(bytes);
            return got < 0 ? (int)got : -EFBIG;
        }
        n += (size_t)got;
        if (n + 1 < cap)
            continue;
        cap *= 2;
        larger = realloc(bytes, cap);
        if (!larger)
            free(bytes);
        bytes = larger;
    }
    return -ENOMEM;
}

int root_read(const struct root *root, const char *path, char **ret_bytes, size_t *ret_n)
{
    int fd = root_open_path(root, path, O_RDONLY);
    struct stat st;
    int r;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        r = -errno;
    else if (!S_ISREG(st.st_mode))
        r = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    else
        r = read_whole(fd, ret_bytes, ret_n);
    fd_close(fd);
    return r;
}

struct names {
    char **name;
    size_t count, cap;
    bool no_memory;
};

static void add_name(const char *name, void *data)
{
    struct names *names = data;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    if (names->count == names->cap) {
        size_t cap = names->cap ? 2 * names->cap : 16;
        char **larger = realloc(names->name, cap * sizeof(*larger));

        if (!larger) {
            names->no_memory = true;
            return;
        }
        names->name = larger;
        names->cap = cap;
    }
    names->name[names->count] = strdup(name);
    if (names->name[names->count])
        names->count++;
    else
        names->no_memory = true;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int root_names(const struct root *root, const char *path, char ***ret_names, size_t *ret_count)
{
    int dir = root_open_path(root, path, O_RDONLY | O_DIRECTORY);
    struct names names = {0};
    int r;

    if (dir < 0)
        return dir;
    r = dir_each(dir, add_name, &names);
    fd_close(dir);
    if (r == 0 && names.no_memory)
        r = -ENOMEM;
    if (r < 0) {
        root_names_free(names.name, names.count);
        return r;
    }
    if (names.count > 0)
        qsort(names.name, names.count, sizeof(*names.name), by_bytes);
    *ret_names = names.name;
    *ret_count = names.count;
    return 0;
}

void root_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

void root_format(const struct root *root, const char *path, struct text *t)
{
    if (!is_own(root))
        text_bytes(t, root->path, strlen(root->path) - (root->path[strlen(root->path) - 1] == '/'));
    text_str(t, path);
}
