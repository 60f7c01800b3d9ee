#include "launcher/init/clamp.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "launcher/init/clamp_call.h"
#include "policy/limit.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STATUS_BYTES 16384 /* about 1500, but a list of 1,000 groups may stand before what is needed */

/* The kernel may send more than the struct that we were built with; clamp_possible() looks that it does not
 * send more than this. */
union notification {
    struct seccomp_notif n;
    unsigned char room[256];
};

union response {
    struct seccomp_notif_resp r;
    unsigned char room[128];
};

/* The thread that waits for an answer. */
struct target {
    pid_t tid;
    uint64_t id; /* of the notification */
    bool known;  /* status was read */
    struct clamp_status status;
    char path[32]; /* scratch: its folder in /proc and a name */
};

/* ---- what /proc says ---- */

static const char *path_of(struct target *t, pid_t pid, const char *name)
{
    struct text path;

    text_init(&path, t->path, sizeof(t->path));
    text_u64(&path, (uint64_t)pid);
    text_join(&path, "/", name, NULL);
    return t->path;
}

static bool know(const struct clamp *c, struct target *t)
{
    char bytes[STATUS_BYTES];
    size_t n;

    if (!t->known && fd_read_beginning(c->proc, path_of(t, t->tid, "status"), bytes, sizeof(bytes), &n) == 0)
        t->known = clamp_parse_status(bytes, n, &t->status) == 0;
    return t->known;
}

/* ioctl(2) itself, since its request is an int in one libc and a long in another. */
static long ask(const struct clamp *c, unsigned long request, void *argument)
{
    return syscall(SYS_ioctl, c->listener, request, argument);
}

/* The notification is still there, so the thread is, and what was opened by its number was its own. */
static bool is_valid(const struct clamp *c, const struct target *t)
{
    uint64_t id = t->id;

    return ask(c, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

int clamp_possible(struct text *ret_why)
{
    struct seccomp_notif_sizes sizes;
    struct clamp_status status;
    char bytes[STATUS_BYTES];
    size_t n;

    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0) {
        text_join(ret_why, "the kernel has no seccomp notification (Linux 5.0): ", err_text(errno), NULL);
        return CLAMP_IMPOSSIBLE;
    }
    if (sizes.seccomp_notif > sizeof(union notification) ||
        sizes.seccomp_notif_resp > sizeof(union response)) {
        text_str(ret_why, "this kernel's seccomp notification is larger than fdfit knows");
        return CLAMP_IMPOSSIBLE;
    }
    if (fd_read_beginning(AT_FDCWD, "/proc/self/status", bytes, sizeof(bytes), &n) < 0 ||
        clamp_parse_status(bytes, n, &status) < 0) {
        text_str(ret_why, "there is no /proc to read what a process asks for");
        return CLAMP_IMPOSSIBLE;
    }
    if (status.nested) {
        text_str(ret_why, "/proc is that of another pid namespace");
        return CLAMP_IMPOSSIBLE;
    }
    return 0;
}

/* ---- being allowed to ---- */

static int open_memory_plainly(const struct clamp *c, struct target *t)
{
    return fd_open(c->proc, path_of(t, t->tid, "mem"), O_RDWR, 0);
}

/* The kernel looks at the ids of the file system, all three of the target's must be them, and at the
 * capabilities (ptrace(2), PTRACE_MODE_ATTACH_FSCREDS). They are taken for this one open(2). */
static int open_memory_as(const struct clamp *c, struct target *t)
{
    struct caps before;
    int fd;

    if (!know(c, t) || caps_get(&before) < 0)
        return -EACCES;
    syscall(SYS_setfsgid, t->status.gid);
    syscall(SYS_setfsuid, t->status.uid);
    caps_raise(); /* after setfsuid, which takes those of the file system away */
    fd = open_memory_plainly(c, t);
    syscall(SYS_setfsuid, geteuid());
    syscall(SYS_setfsgid, getegid());
    caps_set(&before);
    if (c->death_signal != 0)
        sys_prctl(PR_SET_PDEATHSIG, (unsigned long)c->death_signal);
    return fd;
}

static int open_memory(const struct clamp *c, struct target *t)
{
    int fd = open_memory_plainly(c, t);

    return fd == -EACCES || fd == -EPERM ? open_memory_as(c, t) : fd;
}

/* A condition: the answer is not wanted any more. */
#define GONE 1 /* the thread was killed, or a signal took it out of the call */

static int set_limit(const struct clamp *c, const struct target *t, const struct nofile *asked,
                     struct clamp_decision *ret)
{
    struct nofile current;
    int r = sys_prlimit_nofile(t->tid, NULL, &current);

    if (r < 0)
        return r;
    if (!is_valid(c, t))
        return GONE;
    *ret = clamp_decide(asked, &current, &c->ceiling);
    if (ret->error == 0)
        ret->error = sys_prlimit_nofile(t->tid, &ret->set, NULL);
    return 0;
}

/* prlimit(2) asks for CAP_SYS_RESOURCE or the target's ids as our real ones. While they are, the workload may
 * signal us, so only PID 1 takes them, to which nothing happens by a signal that it does not handle. */
static int set_limit_as(const struct clamp *c, struct target *t, const struct nofile *asked,
                        struct clamp_decision *ret)
{
    uid_t uid = getuid();
    gid_t gid = getgid();
    int r;

    if (!c->may_take_ids || !know(c, t))
        return -EPERM;
    syscall(SYS_setresgid, t->status.gid, -1, -1);
    syscall(SYS_setresuid, t->status.uid, -1, -1);
    r = set_limit(c, t, asked, ret);
    syscall(SYS_setresuid, uid, -1, -1);
    syscall(SYS_setresgid, gid, -1, -1);
    return r;
}

/* ---- one call ---- */

static void report(struct clamp *c, struct target *t, enum clamp_kind kind, struct clamp_report *ret)
{
    pid_t pid = know(c, t) ? t->status.tgid : t->tid;
    char name[CLAMP_NAME];
    size_t n = 0;

    memset(name, 0, sizeof(name));
    if (fd_read_beginning(c->proc, path_of(t, pid, "comm"), name, sizeof(name), &n) == 0 && n > 0)
        name[n - 1] = '\0'; /* it ends with a newline */
    for (unsigned i = 0; i < c->seen; i++)
        if (c->reported[i].kind == kind && strcmp(c->reported[i].name, name) == 0)
            return;
    if (c->seen == CLAMP_NAMES)
        return;
    c->reported[c->seen].kind = kind;
    memcpy(c->reported[c->seen++].name, name, sizeof(name));
    ret->kind = kind;
    memcpy(ret->name, name, sizeof(name));
    ret->pid = pid;
}

static int refuse(struct clamp *c, struct target *t, enum clamp_kind kind, struct clamp_report *ret)
{
    c->refused++;
    report(c, t, kind, ret);
    return -EPERM;
}

/* A process names itself by 0, or by the number of its process or thread in its own pid namespace. */
static bool is_itself(const struct clamp *c, struct target *t, pid_t pid)
{
    return pid == 0 || (know(c, t) && (pid == t->status.own_tgid || pid == t->status.own_tid));
}

/* Set the limit as decided, and write the old one back if it was asked for. */
static int act(struct clamp *c, struct target *t, const struct clamp_call *call, int memory,
               struct clamp_report *ret)
{
    unsigned char bytes[sizeof(struct nofile)];
    struct clamp_decision decision;
    struct nofile asked;
    int r;

    if (pread(memory, bytes, call->size, (off_t)call->new_at) != call->size)
        return -EFAULT;
    asked = clamp_asked(bytes, call->size);
    r = set_limit(c, t, &asked, &decision);
    if (r == -EPERM)
        r = set_limit_as(c, t, &asked, &decision);
    if (r == GONE || r == -ESRCH)
        return GONE;
    if (r < 0)
        return refuse(c, t, CLAMP_NOT_OURS, ret);
    if (decision.error != 0)
        return decision.error;
    if (decision.cut) {
        c->cut++;
        report(c, t, CLAMP_KEPT, ret);
        ret->asked = asked;
        ret->kept = decision.set;
    } else {
        c->set++;
    }
    if (call->old_at != 0 && pwrite(memory, &decision.old, sizeof(decision.old), (off_t)call->old_at) !=
                                 (ssize_t)sizeof(decision.old))
        return -EFAULT; /* the limit is set all the same, as in the kernel */
    return 0;
}

/* Returns what the call gives, 0 or a negative error, or GONE. */
static int answer(struct clamp *c, struct target *t, const struct seccomp_data *data,
                  struct clamp_report *ret_report)
{
    struct clamp_call call;
    int r = clamp_decode(data, &call);
    int memory;

    if (r < 0)
        return r;
    if (t->tid == 0) /* not in our pid namespace, and 0 would be ourselves */
        return -EPERM;
    if (!is_itself(c, t, call.pid))
        return refuse(c, t, CLAMP_FOREIGN, ret_report);
    memory = open_memory(c, t);
    if (!is_valid(c, t))
        r = GONE; /* what was opened may be another process's */
    else if (memory < 0)
        r = refuse(c, t, CLAMP_UNREADABLE, ret_report);
    else
        r = act(c, t, &call, memory, ret_report);
    fd_close(memory);
    return r;
}

int clamp_serve(struct clamp *c, short revents, struct clamp_report *ret_report)
{
    union notification in;
    union response out;
    struct target t;
    int r;

    *ret_report = (struct clamp_report){.kind = CLAMP_NOTHING};
    if (!(revents & POLLIN)) {
        c->listener = fd_close(c->listener);
        return CLAMP_ENDED;
    }
    memset(&in, 0, sizeof(in)); /* or it is EINVAL */
    if (ask(c, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0)
        return 0; /* ENOENT: killed before we looked; EINTR */
    t = (struct target){.tid = (pid_t)in.n.pid, .id = in.n.id};
    r = answer(c, &t, &in.n.data, ret_report);
    if (r == GONE)
        return 0;
    memset(&out, 0, sizeof(out));
    out.r.id = t.id;
    out.r.error = r;
    ask(c, SECCOMP_IOCTL_NOTIF_SEND, &out); /* ENOENT: killed while we looked */
    return 0;
}

void clamp_init(struct clamp *c, int listener, const struct nofile *ceiling)
{
    memset(c, 0, sizeof(*c));
    c->ceiling = *ceiling;
    c->listener = listener;
    c->proc = fd_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);
    c->may_take_ids = getpid() == 1;
    sys_prctl(PR_GET_PDEATHSIG, (unsigned long)&c->death_signal);
}

void clamp_deinit(struct clamp *c)
{
    c->listener = fd_close(c->listener);
    c->proc = fd_close(c->proc);
}

static void format_limits(const struct nofile *limits, bool pair, struct text *t)
{
    if (pair)
        nofile_format(limits, t);
    else
        limit_format(limits->soft, t);
}

void clamp_report_format(const struct clamp_report *report, struct text *t)
{
    bool pair = report->asked.soft == report->kept.soft;

    text_escaped(t, report->name, strlen(report->name));
    text_number(t, report->name[0] ? " (pid " : "a process (pid ", (uint64_t)report->pid);
    switch (report->kind) {
    case CLAMP_NOTHING: break;
    case CLAMP_KEPT:
        text_str(t, ") asked for nofile ");
        format_limits(&report->asked, pair, t);
        text_str(t, ", kept ");
        format_limits(&report->kept, pair, t);
        break;
    case CLAMP_FOREIGN: text_str(t, ") asked for the nofile of another process: refused (EPERM)"); break;
    case CLAMP_UNREADABLE:
        text_str(t, ") asked for a nofile that can't be read from its memory: refused (EPERM)");
        break;
    case CLAMP_NOT_OURS:
        text_str(t,
                 ") runs as another user, whose nofile only PID 1 or CAP_SYS_RESOURCE sets: refused (EPERM)");
        break;
    }
}
