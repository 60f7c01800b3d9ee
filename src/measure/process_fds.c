#include "base/dir.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/sys.h"
#include "measure/fds.h"
#include "measure/process_path.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_folder(int proc, pid_t pid, pid_t tid, const char *file)
{
    char path[PROCESS_PATH];
    TEXT_ON(name, path);

    process_path(&name, pid, tid, file);
    return fd_open(proc, path, O_RDONLY | O_DIRECTORY, 0);
}

/* ---- the count ---- */

static int count_by_listing(int proc, pid_t pid, pid_t tid, uint64_t *ret_count)
{
    uint64_t ignored;
    int dir = open_folder(proc, pid, tid, "fd");
    int r;

    if (dir < 0)
        return process_condition(-dir);
    r = fds_from(dir, 0, -1, -1, ret_count, &ignored);
    fd_close(dir);
    return r < 0 ? process_condition(-r) : 0;
}

int process_open_count(int proc, pid_t pid, pid_t tid, uint64_t *ret_count, uint64_t *ret_inode)
{
    char path[PROCESS_PATH];
    TEXT_ON(name, path);
    struct stat st;
    int r;

    process_path(&name, pid, tid, "fd");
    r = sys_stat(proc, path, 0, &st);
    if (r < 0)
        return process_condition(-r);
    if (st.st_size > 0)
        *ret_count = (uint64_t)st.st_size;
    else
        r = count_by_listing(proc, pid, tid, ret_count);
    if (r >= 0 && r != PROCESS_GONE)
        *ret_inode = st.st_ino;
    return r;
}

/* ---- the highest number ---- */

/* One struct linux_dirent64 of getdents64(2) with a name of up to 12 bytes, and not two. */
#define ONE_ENTRY      32
#define ENTRY_NAME     19
#define BEYOND_NUMBERS ((uint64_t)INT_MAX + 1)

#define FOUND 1

/* Look for the lowest open descriptor from `from` on and below `below`. Returns FOUND, 0 (none), or -errno.
 */
static int first_from(int dir, uint64_t from, uint64_t below, uint64_t *ret)
{
    char entry[ONE_ENTRY];
    uint64_t number;
    ssize_t n;

    if (from >= below)
        return 0;
    if (lseek(dir, (off_t)from + 2, SEEK_SET) < 0)
        return -errno;
    n = sys_getdents(dir, entry, sizeof(entry));
    if (n <= 0)
        return (int)n;
    if (num_parse(entry + ENTRY_NAME, strlen(entry + ENTRY_NAME), &number) < 0)
        return -EPROTO;
    if (number >= below)
        return 0;
    *ret = number;
    return FOUND;
}

/* "Is any descriptor >= N open?" falls from yes to no once as N rises, so the highest number is found by
 * halving. The answer is the lowest open one from N on, a better lower end than N. The upper end is a guess
 * (FDSize as it was read) until an answer was no. */
static int highest_above(int dir, uint64_t low, uint64_t high, uint64_t below, uint64_t *ret)
{
    bool certain = false;
    int r;

    while (low + 1 < high || !certain) {
        uint64_t middle = low + 1 < high ? low + (high - low) / 2 : low + 1;
        uint64_t found = 0;

        r = first_from(dir, middle, below, &found);
        if (r < 0)
            return r;
        if (r == FOUND) {
            low = found;
            if (low >= high) { /* the table has grown since */
                high = num_min(low * 2 + 64, BEYOND_NUMBERS);
                certain = false;
            }
        } else {
            high = middle;
            certain = true;
        }
    }
    *ret = low;
    return 0;
}

static int need_of(int dir, uint64_t size, uint64_t count, uint64_t below, uint64_t *ret_need)
{
    uint64_t highest = 0;
    int r = first_from(dir, count, below, &highest);

    if (r == FOUND)
        r = highest_above(dir, highest, num_min(size, below), below, &highest);
    else if (r == 0)
        highest = count - 1; /* of 0: the need is 0 again below */
    if (r < 0)
        return process_condition(-r);
    *ret_need = highest + 1;
    return 0;
}

int process_need(int proc, pid_t pid, pid_t tid, uint64_t size, uint64_t count, uint64_t *ret_need)
{
    int dir = open_folder(proc, pid, tid, "fd");
    int r;

    if (dir < 0)
        return process_condition(-dir);
    r = need_of(dir, size, count, BEYOND_NUMBERS, ret_need);
    fd_close(dir);
    return r;
}

/* ---- the descriptor of a bash's script ---- */

#define BASH_HIGHEST 256 /* HIGH_FD_MAX of bash's general.c */

static bool is_slot_number(int proc, pid_t pid, uint64_t need)
{
    uint64_t soft;

    if (need == BASH_HIGHEST)
        return true;
    return need > 4 && need < BASH_HIGHEST && process_soft(proc, pid, &soft) == 0 && need == soft;
}

static bool is_bash_name(const char *name)
{
    const char *slash = strrchr(name, '/');

    name = slash ? slash + 1 : name;
    return strcmp(name, "bash") == 0 || strcmp(name, "-bash") == 0 || strcmp(name, "bash (deleted)") == 0;
}

static bool is_bash_by_name(int proc, pid_t pid)
{
    struct process_name name;

    return process_name(proc, pid, &name) == 0 && (is_bash_name(name.argv0) || is_bash_name(name.comm));
}

static bool closes_on_exec(int proc, const char *fdinfo)
{
    char bytes[256];
    unsigned long flags = 0;
    const char *value;
    size_t n;

    if (fd_read_file(proc, fdinfo, bytes, sizeof(bytes), &n) < 0)
        return false;
    value = process_value(bytes, n, "flags:", &n);
    for (size_t i = 0; value && i < n && value[i] >= '0' && value[i] <= '7'; i++)
        flags = flags * 8 + (unsigned long)(value[i] - '0');
    return flags & O_CLOEXEC;
}

/* By what needs ptrace access: 1 yes, 0 no, -1 may not be read. */
static int is_script_of_bash(int proc, pid_t pid, const char *fd, const char *fdinfo)
{
    char path[PROCESS_PATH], exe[PATH_MAX];
    TEXT_ON(name, path);
    struct stat st;
    ssize_t n;

    process_path(&name, pid, 0, "exe");
    n = readlinkat(proc, path, exe, sizeof(exe) - 1);
    if (n < 0)
        return errno == EACCES || errno == EPERM ? -1 : 0;
    exe[n] = '\0';
    return is_bash_name(exe) && sys_stat(proc, fd, 0, &st) == 0 && S_ISREG(st.st_mode) &&
           closes_on_exec(proc, fdinfo);
}

/* The mode of the link itself tells how the descriptor was opened (proc_pid_fd(5)). */
static bool is_open_for_reading(int proc, const char *fd)
{
    struct stat st;

    return sys_stat(proc, fd, AT_SYMLINK_NOFOLLOW, &st) == 0 && (st.st_mode & 0700) == 0500;
}

static bool is_script(int proc, pid_t pid, uint64_t number)
{
    char paths[2][PROCESS_PATH];
    TEXT_ON(fd, paths[0]);
    TEXT_ON(fdinfo, paths[1]);
    int sure;

    process_path(&fd, pid, 0, "fd/");
    text_u64(&fd, number);
    process_path(&fdinfo, pid, 0, "fdinfo/");
    text_u64(&fdinfo, number);
    sure = is_script_of_bash(proc, pid, fd.at, fdinfo.at);
    return sure >= 0 ? sure : is_bash_by_name(proc, pid) && is_open_for_reading(proc, fd.at);
}

bool process_is_script_slot(int proc, pid_t pid, uint64_t need, uint64_t *ret_need)
{
    uint64_t rest, slot = need - 1;
    int dir, r;

    if (!is_slot_number(proc, pid, need))
        return false;
    dir = open_folder(proc, pid, 0, "fd");
    if (dir < 0)
        return false;
    r = need_of(dir, slot, 0, slot, &rest);
    fd_close(dir);
    if (r != 0 || rest > slot / 2 || !is_script(proc, pid, slot))
        return false;
    *ret_need = rest;
    return true;
}

/* ---- all tables of a process ---- */

/* Enlarge *t by the table of the process's leader (tid 0) or of a thread. */
static int add_table(int proc, pid_t pid, pid_t tid, uint64_t size, struct process_tables *t)
{
    uint64_t count = 0, need = 0, ignored;
    int r = process_open_count(proc, pid, tid, &count, &ignored);

    if (r < 0 || r == PROCESS_GONE)
        return r;
    r = process_need(proc, pid, tid, size, count, &need);
    if (r < 0 || r == PROCESS_GONE)
        return r;
    t->exact = t->exact && r == 0;
    t->size = num_max(t->size, size);
    t->open = num_max(t->open, count);
    t->need = num_max(t->need, need);
    return 0;
}

/* The walk over the threads. */
struct threads {
    int proc;
    pid_t pid;
    pid_t
        reference; /* whose table is measured already; 0 while the leader is a zombie and no other was seen */
    uint64_t size, count; /* of that table */
    bool can_compare;
    struct process_tables *tables;
};

#define COMPARE_FILES 2 /* KCMP_FILES of linux/kcmp.h */

enum sharing { SHARED, OWN, UNKNOWN };

/* kcmp(2) knows whether two threads share a table, but takes pids of our own namespace, and needs ptrace
 * access. */
static enum sharing compare(const struct threads *w, pid_t tid)
{
    long r = -1;

    if (w->reference && w->can_compare)
        r = syscall(SYS_kcmp, w->reference, tid, COMPARE_FILES, 0, 0);
    return r < 0 ? UNKNOWN : r == 0 ? SHARED : OWN;
}

/* Without it, a table of another size or with another count is another one. One that is the same in both has
 * the same bound and, without gaps, the same need. */
static bool looks_shared(const struct threads *w, pid_t tid, const struct process_status *status)
{
    uint64_t count, ignored;

    return w->reference && status->size == w->size &&
           process_open_count(w->proc, w->pid, tid, &count, &ignored) == 0 && count == w->count;
}

static void add_thread(const char *name, void *data)
{
    struct threads *w = data;
    struct process_status status;
    enum sharing sharing;
    uint64_t number;
    pid_t tid;

    if (num_parse(name, strlen(name), &number) < 0 || number > INT_MAX || (pid_t)number == w->pid)
        return;
    tid = (pid_t)number;
    sharing = compare(w, tid);
    if (sharing == SHARED || process_thread_status(w->proc, w->pid, tid, &status) != 0 || status.zombie)
        return;
    if (sharing == UNKNOWN && looks_shared(w, tid, &status))
        return;
    if (add_table(w->proc, w->pid, tid, status.size, w->tables) != 0)
        return;
    if (w->reference) {
        w->tables->several = true;
    } else {
        w->reference = tid;
        w->size = status.size;
        w->count = w->tables->open;
    }
}

/* True when the pids of this /proc are those of our own namespace. */
static bool is_own_namespace(int proc)
{
    char link[32];
    ssize_t n = readlinkat(proc, "self", link, sizeof(link));
    uint64_t pid;

    return n > 0 && num_parse(link, (size_t)n, &pid) == 0 && pid == (uint64_t)getpid();
}

static int add_threads(int proc, pid_t pid, const struct process_status *status, struct process_tables *t)
{
    struct threads w = {
        .proc = proc,
        .pid = pid,
        .reference = status->zombie ? 0 : pid,
        .size = status->size,
        .count = t->open,
        .can_compare = is_own_namespace(proc),
        .tables = t,
    };
    int tasks = open_folder(proc, pid, 0, "task");
    int r;

    if (tasks < 0)
        return process_condition(-tasks);
    r = dir_each(tasks, add_thread, &w);
    fd_close(tasks);
    if (r < 0)
        return process_condition(-r);
    return w.reference ? 0 : PROCESS_ZOMBIE;
}

int process_measure_tables(int proc, pid_t pid, const struct process_status *status, bool threads_too,
                           struct process_tables *ret)
{
    struct process_tables tables = {.exact = true};
    int r = 0;

    if (status->zombie && status->threads == 1)
        return PROCESS_ZOMBIE;
    if (!status->zombie)
        r = add_table(proc, pid, 0, status->size, &tables);
    if (r == 0 && (threads_too || status->zombie))
        r = add_threads(proc, pid, status, &tables);
    if (r == 0)
        *ret = tables;
    return r;
}

int process_measure(int proc, pid_t pid, struct process_tables *ret)
{
    struct process_status status;
    struct process_tables tables;
    uint64_t rest;
    int r = process_status(proc, pid, &status);

    if (r == 0)
        r = process_measure_tables(proc, pid, &status, status.threads != 1, &tables);
    if (r != 0)
        return r;
    if (tables.exact && !tables.several && process_is_script_slot(proc, pid, tables.need, &rest))
        tables.need = rest;
    *ret = tables;
    return 0;
}
