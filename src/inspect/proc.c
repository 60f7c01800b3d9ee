#include "inspect/proc.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "measure/process_path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_MAX ((size_t)64 * 1024) /* a process may be in 65536 groups; NSpid stands behind them */

int proc_read_file(const struct root *root, pid_t pid, const char *file, size_t cap, char **ret_bytes,
                   size_t *ret_n)
{
    char path[PROCESS_PATH];
    TEXT_ON(name, path);
    size_t n = 0;
    ssize_t got = 0;
    char *bytes;
    int fd;

    if (root->proc < 0)
        return PROCESS_GONE;
    process_path(&name, pid, 0, file);
    fd = fd_open(root->proc, path, O_RDONLY, 0);
    if (fd < 0)
        return process_condition(-fd);
    bytes = malloc(cap + 1);
    while (bytes && n < cap && (got = fd_read(fd, bytes + n, cap - n)) > 0)
        n += (size_t)got;
    fd_close(fd);
    if (!bytes)
        return -ENOMEM;
    if (got < 0) {
        free(bytes);
        return process_condition((int)-got);
    }
    bytes[n] = '\0';
    *ret_bytes = bytes;
    *ret_n = n;
    return 0;
}

int proc_read_link(const struct root *root, pid_t pid, const char *file, char **ret)
{
    char path[PROCESS_PATH], target[PATH_MAX];
    TEXT_ON(name, path);
    ssize_t n;

    if (root->proc < 0)
        return PROCESS_GONE;
    process_path(&name, pid, 0, file);
    n = readlinkat(root->proc, path, target, sizeof(target) - 1);
    if (n < 0)
        return process_condition(errno);
    *ret = strndup(target, (size_t)n);
    return *ret ? 0 : -ENOMEM;
}

/* One of the columns of a line of limits: digits or "unlimited". */
static int take_limit(const char **at, const char *end, uint64_t *ret)
{
    const char *from = *at;

    while (from < end && *from == ' ')
        from++;
    *at = from;
    while (*at < end && **at != ' ' && **at != '\n')
        ++*at;
    if (*at - from == (ptrdiff_t)strlen("unlimited") && memcmp(from, "unlimited", strlen("unlimited")) == 0) {
        *ret = UINT64_MAX;
        return 0;
    }
    return num_parse(from, (size_t)(*at - from), ret) < 0 ? -EBADMSG : 0;
}

int proc_limits_parse(const char *bytes, size_t n, struct nofile *ret)
{
    static const char key[] = "Max open files";
    const char *at = text_find(bytes, n, key);
    struct nofile limit;

    if (!at || (at > bytes && at[-1] != '\n'))
        return -EBADMSG;
    at += strlen(key);
    if (take_limit(&at, bytes + n, &limit.soft) < 0 || take_limit(&at, bytes + n, &limit.hard) < 0)
        return -EBADMSG;
    *ret = limit;
    return 0;
}

static int read_limit(const struct root *root, struct proc *p)
{
    char *bytes;
    size_t n;
    int r = proc_read_file(root, p->pid, "limits", 8192, &bytes, &n);

    if (r == PROCESS_DENIED)
        return 0;
    if (r != 0)
        return r;
    p->has_limit = proc_limits_parse(bytes, n, &p->limit) == 0;
    free(bytes);
    return 0;
}

/* "NSpid: 4021 17 1": the pid in the namespace of this /proc, and in each one further in. Linux 4.1. */
static void take_namespaces(const char *value, size_t n, struct proc *p)
{
    unsigned count = 0;
    uint64_t pid;

    for (size_t i = 0; i < n;) {
        size_t from = i;

        while (i < n && value[i] != '\t' && value[i] != ' ')
            i++;
        if (i > from && num_parse(value + from, i - from, &pid) == 0 && pid <= INT_MAX) {
            p->inner = (pid_t)pid;
            count++;
        }
        i++;
    }
    p->depth = count > 0 ? count - 1 : 0;
}

/* The second of the four numbers behind "Uid:". */
static void take_uid(const char *value, size_t n, struct proc *p)
{
    const char *at = memchr(value, '\t', n), *end;
    uint64_t uid;

    if (!at)
        return;
    at++;
    end = memchr(at, '\t', n - (size_t)(at - value));
    if (end && num_parse(at, (size_t)(end - at), &uid) == 0 && uid <= UINT32_MAX)
        p->uid = (uid_t)uid;
}

static int read_status(const struct root *root, struct proc *p)
{
    struct process_status status;
    const char *value;
    char *bytes;
    size_t n, length;
    int r = process_status(root->proc, p->pid, &status);

    if (r == 0)
        r = proc_read_file(root, p->pid, "status", STATUS_MAX, &bytes, &n);
    if (r != 0)
        return r;
    p->parent = status.parent;
    p->zombie = status.zombie;
    value = process_value(bytes, n, "\nNSpid:", &length);
    if (value)
        take_namespaces(value, length, p);
    value = process_value(bytes, n, "\nUid:", &length);
    if (value)
        take_uid(value, length, p);
    free(bytes);
    return 0;
}

static int read_exe(const struct root *root, struct proc *p)
{
    static const char deleted[] = " (deleted)";
    int r = proc_read_link(root, p->pid, "exe", &p->exe);
    size_t n;

    /* A kernel thread has none (ENOENT), and neither has a zombie: gone is told by the other files. */
    if (r != 0)
        return r == PROCESS_GONE || r == PROCESS_DENIED ? 0 : r;
    n = strlen(p->exe);
    if (n > strlen(deleted) && strcmp(p->exe + n - strlen(deleted), deleted) == 0)
        p->exe[n - strlen(deleted)] = '\0';
    return 0;
}

static int read_cmdline(const struct root *root, struct proc *p)
{
    int r = proc_read_file(root, p->pid, "cmdline", PROC_CMDLINE, &p->cmdline, &p->cmdline_n);

    if (r != PROCESS_DENIED)
        return r;
    p->cmdline = strdup("");
    return p->cmdline ? 0 : -ENOMEM;
}

int proc_read(const struct root *root, pid_t pid, struct proc *ret)
{
    struct proc p = {.pid = pid, .uid = (uid_t)-1};
    struct process_name name = {.comm = ""};
    uint64_t start = 0;
    int r = root->proc < 0 ? PROCESS_GONE : process_start(root->proc, pid, &p.start);

    if (r == 0)
        r = read_status(root, &p);
    if (r == 0)
        r = process_name(root->proc, pid, &name);
    if (r == 0)
        r = read_limit(root, &p);
    if (r == 0)
        r = read_exe(root, &p);
    if (r == 0)
        r = read_cmdline(root, &p);
    /* Still the same one, or what was read is of two. */
    if (r == 0)
        r = process_start(root->proc, pid, &start);
    if (r == 0 && start != p.start)
        r = PROCESS_GONE;
    if (r != 0) {
        proc_deinit(&p);
        return r;
    }
    memcpy(p.comm, name.comm, sizeof(p.comm));
    *ret = p;
    return 0;
}

void proc_deinit(struct proc *proc)
{
    free(proc->exe);
    free(proc->cmdline);
    proc->exe = proc->cmdline = NULL;
    proc->cmdline_n = 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *proc_program(const struct proc *proc)
{
    if (proc->exe && *base_name(proc->exe))
        return base_name(proc->exe);
    if (proc->cmdline && *base_name(proc->cmdline))
        return base_name(proc->cmdline);
    return proc->comm;
}

const char *proc_argument(const struct proc *proc, size_t number)
{
    const char *at = proc->cmdline, *end = at + proc->cmdline_n;

    for (; at && at < end; at += strlen(at) + 1)
        if (number-- == 0)
            return at;
    return NULL;
}
