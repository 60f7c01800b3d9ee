#include "ctl/targets.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "measure/process.h"
#include "measure/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int targets_init(struct targets *t, struct text *reterr)
{
    memset(t, 0, sizeof(*t));
    t->proc = fd_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);
    if (t->proc >= 0)
        return 0;
    text_join(reterr, "can't open /proc: ", err_text(-t->proc), "; is it mounted?", NULL);
    return t->proc;
}

void targets_deinit(struct targets *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->pid[i].pidfd = fd_close(t->pid[i].pidfd);
    t->count = 0;
    t->proc = fd_close(t->proc);
}

static int add_pid(struct targets *t, const char *word, struct text *reterr)
{
    struct target *target = &t->pid[t->count];
    struct process_status status;
    uint64_t pid;
    int r = num_parse(word, strlen(word), &pid);

    if (r < 0 || pid == 0 || pid > INT_MAX) {
        text_quoted(reterr, word, strlen(word));
        text_str(reterr, " is not a pid; by a program's name it is --name");
        return -EINVAL;
    }
    *target = (struct target){.pid = (pid_t)pid, .pidfd = -1};
    r = process_status(t->proc, target->pid, &status);
    if (r == 0)
        r = process_start(t->proc, target->pid, &target->start);
    if (r == 0 && !status.zombie) {
        target->pidfd = fd_own((int)syscall(SYS_pidfd_open, target->pid, 0));
        t->count++;
        return 0;
    }
    text_join(reterr, "pid ", word, NULL);
    text_str(reterr, r == 0                ? " has ended, and waits to be reaped by its parent"
                     : r == PROCESS_GONE   ? ": there is no such process, or it is hidden (hidepid); see ps"
                     : r == PROCESS_DENIED ? ": may not be read (hidepid); run as root"
                                           : ": can't be read: ");
    if (r < 0)
        text_str(reterr, err_text(-r));
    return r < 0 ? r : -ESRCH;
}

int targets_pids(struct targets *t, char **words, int count, struct text *reterr)
{
    if (count > TARGETS_MAX) {
        text_str(reterr, "more than 64 pids; use --tree, --name or --cgroup");
        return -EINVAL;
    }
    for (int i = 0; i < count; i++) {
        int r = add_pid(t, words[i], reterr);

        if (r < 0)
            return r;
    }
    return 0;
}

/* One walk over the targets. */
struct walk {
    struct targets *targets;
    void (*each)(pid_t pid, void *data);
    void *data;
    struct tree *tree; /* room for a list; NULL without --tree */
    size_t count;
};

static void meet(struct walk *w, pid_t pid)
{
    if (pid == getpid())
        return;
    w->each(pid, w->data);
    w->count++;
    if (!w->tree || tree_list(w->targets->proc, pid, w->tree) < 0)
        return;
    for (size_t i = 0; i < w->tree->count; i++)
        if (w->tree->pid[i] != getpid()) {
            w->each(w->tree->pid[i], w->data);
            w->count++;
        }
}

static void walk_pids(struct walk *w)
{
    for (size_t i = 0; i < w->targets->count; i++) {
        struct target *target = &w->targets->pid[i];
        struct process_status status;
        uint64_t start;

        if (target->ended)
            continue;
        if (process_start(w->targets->proc, target->pid, &start) != 0 || start != target->start ||
            process_status(w->targets->proc, target->pid, &status) != 0 ||
            (status.zombie && status.threads <= 1))
            target->ended = true;
        else
            meet(w, target->pid);
    }
}

/* comm is cut to 15 bytes by the kernel, and so a longer name is, to be compared. */
static bool is_named(int proc, pid_t pid, const char *name)
{
    struct process_name is;

    return process_name(proc, pid, &is) == 0 && strncmp(is.comm, name, PROCESS_COMM - 1) == 0;
}

static int walk_named(struct walk *w, struct text *reterr)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    if (!dir) {
        text_join(reterr, "can't list /proc: ", err_text(errno), NULL);
        return -errno;
    }
    while ((entry = readdir(dir))) {
        uint64_t pid;

        if (num_parse(entry->d_name, strlen(entry->d_name), &pid) == 0 && pid <= INT_MAX &&
            is_named(w->targets->proc, (pid_t)pid, w->targets->name))
            meet(w, (pid_t)pid);
    }
    closedir(dir);
    return 0;
}

static int walk_procs(struct walk *w, const char *folder)
{
    char path[PATH_MAX];
    FILE *file;
    uint64_t pid;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
    file = fopen(path, "re");
    if (!file)
        return -errno;
    while ((n = getline(&line, &room, file)) > 0)
        if (num_parse(line, (size_t)n - (line[n - 1] == '\n'), &pid) == 0 && pid > 0 && pid <= INT_MAX)
            meet(w, (pid_t)pid);
    free(line);
    fclose(file);
    return 0;
}

#define CGROUP_DEPTH 32 /* no tree of cgroups in use is deeper */

/* A cgroup and those below it: a container's processes often stand in cgroups of their own. */
static int walk_cgroup(struct walk *w, const char *folder, unsigned depth)
{
    int r = walk_procs(w, folder);
    struct dirent *entry;
    DIR *dir;

    /* A threaded cgroup has no processes of its own to read (EOPNOTSUPP, cgroups(7)). */
    if (r < 0 && r != -EOPNOTSUPP)
        return r;
    dir = opendir(folder);
    if (!dir)
        return -errno;
    while (depth < CGROUP_DEPTH && (entry = readdir(dir))) {
        char below[PATH_MAX];

        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        if (snprintf(below, sizeof(below), "%s/%s", folder, entry->d_name) < (int)sizeof(below))
            walk_cgroup(w, below, depth + 1); /* one that vanishes meanwhile is normal */
    }
    closedir(dir);
    return 0;
}

/* The path as it stands, or as /proc/PID/cgroup shows it: below one of the places where cgroups are mounted
 * (version 2, then the hierarchies of version 1 that every process is in). */
static int walk_cgroup_path(struct walk *w, struct text *reterr)
{
    static const char *const mounts[] = {
        "",
        "/sys/fs/cgroup/",
        "/sys/fs/cgroup/unified/",
        "/sys/fs/cgroup/pids/",
        "/sys/fs/cgroup/memory/",
        "/sys/fs/cgroup/systemd/",
    };
    int r = -ENOENT;

    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]) && (r == -ENOENT || r == -ENOTDIR); i++) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s%s", mounts[i], w->targets->cgroup) < (int)sizeof(path))
            r = walk_cgroup(w, path, 0);
    }
    if (r < 0) {
        text_str(reterr, "cgroup ");
        text_quoted(reterr, w->targets->cgroup, strlen(w->targets->cgroup));
        text_join(reterr, " can't be read: ", err_text(-r), "; see /proc/PID/cgroup for paths", NULL);
    }
    return r;
}

int targets_each(struct targets *t, void (*each)(pid_t pid, void *data), void *data, size_t *ret_count,
                 struct text *reterr)
{
    struct walk w = {.targets = t, .each = each, .data = data};
    int r = 0;

    if (t->tree) {
        w.tree = malloc(sizeof(*w.tree));
        if (!w.tree) {
            text_str(reterr, "out of memory");
            return -ENOMEM;
        }
    }
    if (t->name)
        r = walk_named(&w, reterr);
    else if (t->cgroup)
        r = walk_cgroup_path(&w, reterr);
    else
        walk_pids(&w);
    free(w.tree);
    if (r == 0)
        *ret_count = w.count;
    return r;
}

bool targets_ended(const struct targets *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (!t->pid[i].ended)
            return false;
    return t->count > 0;
}

void targets_format(const struct targets *t, struct text *text)
{
    const char *what = t->name ? t->name : t->cgroup;

    if (what) {
        text_str(text, t->name ? "processes named " : "cgroup ");
        text_quoted(text, what, strlen(what));
    } else {
        text_str(text, "pid ");
    }
    for (size_t i = 0; i < t->count; i++) {
        text_str(text, i ? ", " : "");
        text_u64(text, (uint64_t)t->pid[i].pid);
    }
    text_str(text, t->tree ? " and descendants" : "");
}

/* A limit's column: digits or "unlimited". */
static int parse_limit(const char **at, uint64_t *ret)
{
    size_t n;

    while (**at == ' ')
        ++*at;
    n = strcspn(*at, " \n");
    if (n == strlen("unlimited") && memcmp(*at, "unlimited", n) == 0)
        *ret = UINT64_MAX;
    else if (num_parse(*at, n, ret) < 0)
        return -EBADMSG;
    *at += n;
    return 0;
}

int target_limits(int proc, pid_t pid, struct nofile *ret)
{
    char path[32], bytes[4096];
    struct nofile pair;
    const char *at;
    size_t n;
    int r;

    snprintf(path, sizeof(path), "%d/limits", (int)pid);
    r = fd_read_file(proc, path, bytes, sizeof(bytes) - 1, &n);
    if (r < 0)
        return r;
    bytes[n] = '\0';
    at = strstr(bytes, "Max open files");
    if (!at)
        return -EBADMSG;
    at += strlen("Max open files");
    r = parse_limit(&at, &pair.soft);
    if (r == 0)
        r = parse_limit(&at, &pair.hard);
    if (r == 0)
        *ret = pair;
    return r;
}
