#include "measure/tree.h"

#include "base/dir.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/sys.h"
#include "base/text.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static bool add(struct tree *t, pid_t pid, pid_t parent)
{
    if (t->count == TREE_MAX)
        return false;
    t->pid[t->count] = pid;
    t->parent[t->count++] = parent;
    return true;
}

/* The parent's pid: the fourth field of /proc/PID/stat, the second behind the ")" of the name, which may hold
 * anything (proc(5)). Returns -1 when the process is gone. */
static pid_t read_parent(int proc, const char *pid)
{
    char path[32], stat[512];
    TEXT_ON(name, path);
    const char *field;
    uint64_t parent;
    size_t n;

    text_join(&name, pid, "/stat", NULL);
    if (fd_read_file(proc, path, stat, sizeof(stat), &n) < 0)
        return -1;
    field = memrchr(stat, ')', n);
    if (!field || field + 4 >= stat + n) /* ") S " and a digit */
        return -1;
    field += 4;
    n -= (size_t)(field - stat);
    n = memchr(field, ' ', n) ? (size_t)((const char *)memchr(field, ' ', n) - field) : n;
    return num_parse(field, n, &parent) == 0 && parent <= INT_MAX ? (pid_t)parent : -1;
}

struct scan {
    int proc;
    struct tree *all;
    bool cut;
};

static void scan_entry(const char *name, void *data)
{
    struct scan *scan = data;
    uint64_t pid;
    pid_t parent;

    if (num_parse(name, strlen(name), &pid) < 0 || pid > INT_MAX)
        return;
    parent = read_parent(scan->proc, name);
    if (parent >= 0 && !add(scan->all, (pid_t)pid, parent))
        scan->cut = true;
}

/* /proc lists pids in rising order. */
static pid_t parent_of(const struct tree *t, pid_t pid)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->pid[middle] < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && t->pid[low] == pid ? t->parent[low] : 0;
}

static bool descends(const struct tree *t, pid_t pid, pid_t root)
{
    /* A pid that is used again while /proc is read could close a circle: no chain is longer than the list. */
    for (size_t steps = 0; pid > 0 && steps <= t->count; steps++) {
        pid = parent_of(t, pid);
        if (pid == root)
            return true;
    }
    return false;
}

static int list_by_scan(int proc, pid_t root, struct tree *ret)
{
    struct scan scan = {.proc = proc, .all = ret};
    bool keep[TREE_MAX];
    size_t kept = 0;
    int r;

    ret->count = 0;
    r = dir_each(proc, scan_entry, &scan);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ret->count; i++)
        keep[i] = descends(ret, ret->pid[i], root);
    for (size_t i = 0; i < ret->count; i++)
        if (keep[i]) {
            ret->pid[kept] = ret->pid[i];
            ret->parent[kept++] = ret->parent[i];
        }
    ret->count = kept;
    return scan.cut ? TREE_CUT : 0;
}

/* The walk over one process's threads. */
struct walk {
    struct tree *tree;
    pid_t parent;
    int tasks; /* /proc/PID/task */
    int error; /* of the first children file that could not be read, or 0 */
    bool cut;
};

/* A list of pids with a blank behind each, which may end anywhere in the buffer. */
static void take_children(int fd, struct walk *w)
{
    char buffer[1024];
    uint64_t pid = 0;
    ssize_t n;

    while ((n = fd_read(fd, buffer, sizeof(buffer))) > 0)
        for (ssize_t i = 0; i < n; i++) {
            if (buffer[i] >= '0' && buffer[i] <= '9') {
                pid = pid * 10 + (uint64_t)(buffer[i] - '0');
                continue;
            }
            if (pid > 0 && pid <= INT_MAX && !add(w->tree, (pid_t)pid, w->parent))
                w->cut = true;
            pid = 0;
        }
}

static void take_children_file(int dir, const char *path, struct walk *w)
{
    int fd = fd_open(dir, path, O_RDONLY, 0);

    if (fd < 0) {
        w->error = w->error ? w->error : fd;
        return;
    }
    take_children(fd, w);
    fd_close(fd);
}

static void walk_thread(const char *tid, void *data)
{
    struct walk *w = data;
    char path[32];
    TEXT_ON(name, path);

    if (tid[0] < '0' || tid[0] > '9')
        return;
    text_join(&name, tid, "/children", NULL);
    take_children_file(w->tasks, path, w);
}

/* The links of /proc/PID/task are two and one for each thread (kernel fs/proc/base.c, proc_task_getattr). */
static bool has_one_thread(int proc, const char *task)
{
    struct stat st;

    return sys_stat(proc, task, 0, &st) == 0 && st.st_nlink == 3;
}

static int walk_process(int proc, pid_t pid, struct walk *w)
{
    char path[64];
    TEXT_ON(name, path);

    text_u64(&name, (uint64_t)pid);
    text_str(&name, "/task");
    w->parent = pid;
    if (has_one_thread(proc, path)) { /* spares the listing of its threads, which costs most of the walk */
        text_char(&name, '/');
        text_u64(&name, (uint64_t)pid);
        text_str(&name, "/children");
        take_children_file(proc, path, w);
        return 0;
    }
    w->tasks = fd_open(proc, path, O_RDONLY | O_DIRECTORY, 0);
    if (w->tasks < 0)
        return w->tasks;
    dir_each(w->tasks, walk_thread, w);
    fd_close(w->tasks);
    return 0;
}

int tree_list(int proc, pid_t root, struct tree *ret)
{
    struct walk w = {.tree = ret};
    int r;

    if (root == 1)
        return list_by_scan(proc, root, ret);
    ret->count = 0;
    r = walk_process(proc, root, &w);
    if (r < 0)
        return r;
    if (w.error == -ENOENT) /* a kernel without CONFIG_PROC_CHILDREN; our own thread can't be gone */
        return list_by_scan(proc, root, ret);
    for (size_t i = 0; i < ret->count; i++)
        walk_process(proc, ret->pid[i], &w);
    return w.cut ? TREE_CUT : 0;
}
