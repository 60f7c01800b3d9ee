#include "launcher/init/child.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "launcher/exec.h"
#include "launcher/inherited.h"
#include "policy/lock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Variables of systemd that name the process they are meant for (sd_listen_fds(3), sd_watchdog_enabled(3),
 * systemd.exec(5)): where they named fdfit they must name the workload. */
static const char *const pid_variables[] = {"LISTEN_PID=", "WATCHDOG_PID=", "SYSTEMD_EXEC_PID="};

#define PID_VARIABLES (sizeof(pid_variables) / sizeof(pid_variables[0]))

struct pid_texts {
    char text[PID_VARIABLES][40];
};

static void rename_pids(char **environment, pid_t from, struct pid_texts *texts)
{
    char number[24];
    TEXT_ON(old, number);

    text_u64(&old, (uint64_t)from);
    for (char **variable = environment; *variable; variable++)
        for (size_t i = 0; i < PID_VARIABLES; i++) {
            const char *rest = text_behind(*variable, pid_variables[i]);
            struct text t;

            if (!rest || strcmp(rest, old.at) != 0)
                continue;
            text_init(&t, texts->text[i], sizeof(texts->text[i]));
            text_number(&t, pid_variables[i], (uint64_t)getpid());
            *variable = texts->text[i];
        }
}

/* The foreground group of a terminal, or -1. ioctl(2) itself, which is all that tcgetpgrp(3) does. */
static pid_t foreground(int terminal)
{
    pid_t group;

    return syscall(SYS_ioctl, terminal, TIOCGPGRP, &group) < 0 ? -1 : group;
}

static bool set_foreground(int terminal, pid_t group)
{
    return syscall(SYS_ioctl, terminal, TIOCSPGRP, &group) == 0;
}

/* Make our group the foreground of the controlling terminal, if there is one and fdfit's group had it. Any of
 * the three first descriptors may be it, or none; what can't be done (ENOTTY, ENXIO, EPERM) is left. All
 * signals are blocked here, so TTOU does not stop us (tcsetpgrp(3)). */
static void take_foreground(pid_t old_group)
{
    int terminal = fd_open(AT_FDCWD, "/dev/tty", O_RDWR, 0);

    for (int fd = 0; fd < 3; fd++)
        if (foreground(fd) == old_group && set_foreground(fd, getpgrp()))
            break;
    if (terminal >= 0 && foreground(terminal) == old_group)
        set_foreground(terminal, getpgrp());
    fd_close(terminal);
}

/* A group of its own where fdfit stands at the head of the session, or where the signals are to go to a
 * group; otherwise the child stays with the rest of the pipeline it was started in. */
static void set_group(const struct launch *l, const struct init_caller *caller)
{
    pid_t old_group = getpgrp();
    bool group = value_is(&l->settings.value[KEY_SIGNAL_TO], WORD_GROUP);

    if (!caller->is_pid1 && !caller->is_leader && !group)
        return;
    if (setpgid(0, 0) == 0)
        take_foreground(old_group);
}

/* Room for one descriptor beside a message (cmsg(3)). */
union passed {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

static void pass_listener(struct msghdr *message, union passed *passed, int listener)
{
    memset(passed, 0, sizeof(*passed));
    message->msg_control = passed;
    message->msg_controllen = sizeof(passed->room);
    passed->header.cmsg_level = SOL_SOCKET;
    passed->header.cmsg_type = SCM_RIGHTS;
    passed->header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&passed->header), &listener, sizeof(listener));
}

/* A message of the socket is read whole, whatever its size. The end of the parent is no SIGPIPE but an error,
 * and then nobody is left to be told. */
static int report(int socket, const struct child_report *r, int listener)
{
    struct iovec bytes = {.iov_base = (void *)r, .iov_len = sizeof(*r)};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    union passed passed;
    ssize_t n;

    if (listener >= 0)
        pass_listener(&message, &passed, listener);
    do
        n = sys_sendmsg(socket, &message, MSG_NOSIGNAL);
    while (n == -EINTR);
    return n < 0 ? (int)n : 0;
}

int child_receive(int socket, struct child_report *ret, int *ret_listener)
{
    struct iovec bytes = {.iov_base = ret, .iov_len = sizeof(*ret)};
    union passed passed;
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &passed};
    ssize_t n;

    do {
        message.msg_controllen = sizeof(passed.room);
        n = sys_recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (n == -EINTR);
    if (n != (ssize_t)sizeof(*ret))
        return 0;
    *ret_listener = -1;
    if (CMSG_FIRSTHDR(&message) && passed.header.cmsg_type == SCM_RIGHTS) {
        memcpy(ret_listener, CMSG_DATA(&passed.header), sizeof(*ret_listener));
        *ret_listener = fd_own(*ret_listener);
    }
    return 1;
}

/* Load the lock. Where another listener is in force already (an outer fdfit's, or an engine's) the calls
 * can't be asked about, and are refused. Returns the listener, -1 for none, or another negative error with
 * reterr. */
static int load_lock(struct launch *l, struct text *line, struct text *reterr)
{
    bool no_new_privs = false, killable = true;
    int listener = -1, r;

    if (lock_mode(&l->settings.value[KEY_LOCK]) != LOCK_CLAMP) {
        r = launch_lock(l, line, reterr);
        return r < 0 ? r : -1;
    }
    r = lock_install_listener(&listener, &no_new_privs, &killable, reterr);
    if (r == LOCK_BUSY) {
        text_str(line, "another seccomp listener is in force: lock = deny instead of clamp");
        r = lock_load(LOCK_DENY, &no_new_privs, reterr);
        return r < 0 ? r : -1;
    }
    if (no_new_privs)
        lock_explain_no_new_privs(line);
    else if (r == 0 && !killable)
        text_str(line,
                 "before Linux 5.19 a fast timer can keep a call that lock = clamp answers from ending");
    return r < 0 ? r : listener;
}

/* Everything of the exec mode's start but the exec itself. Returns the listener of a clamp, or -1. */
static int prepare(struct launch *l, pid_t parent, int socket, struct pid_texts *texts,
                   struct child_report *r)
{
    const struct value *how = &l->settings.value[KEY_INHERITED_FDS];
    struct text line, peak, inherited, lock;
    int done, dir, listener = -1;

    text_init(&line, r->line, sizeof(r->line));
    text_init(&peak, r->peak, sizeof(r->peak));
    text_init(&inherited, r->inherited, sizeof(r->inherited));
    text_init(&lock, r->lock, sizeof(r->lock));
    rename_pids(l->environment, parent, texts);
    dir = inherited_open(&l->settings);
    done = launch_limit(l, &peak, &line);
    r->no_target = done == PLAN_NO_TARGET;
    r->plan = l->plan;
    if (done == 0)
        inherited_handle(how, l->plan.limit.soft, dir, socket, l->environment, &inherited);
    if (done >= 0)
        listener = load_lock(l, &lock, &line);
    r->stage = line.len > 0 ? CHILD_FAILED_LIMIT : CHILD_LIMITED;
    r->has_listener = listener >= 0;
    return listener;
}

static void run_child(struct launch *l, const struct init_caller *caller, pid_t parent, int socket)
{
    struct child_report r;
    struct pid_texts texts;
    int listener;

    memset(&r, 0, sizeof(r));
    set_group(l, caller);
    listener = prepare(l, parent, socket, &texts, &r);
    if (report(socket, &r, listener) < 0 || r.stage == CHILD_FAILED_LIMIT)
        return;
    signals_set_action(SIGCHLD, &caller->child_died, NULL);
    signals_set_mask(caller->mask, NULL);
    r.error = exec_search(l->command, l->environment);
    r.stage = CHILD_FAILED_EXEC;
    report(socket, &r, -1);
}

pid_t child_start(struct launch *l, const struct init_caller *caller, const struct init_own *own)
{
    pid_t parent = getpid();
    pid_t pid = sys_fork();

    if (pid == 0) {
        fd_close(own->signals);
        fd_close(own->reports);
        run_child(l, caller, parent, own->child);
        _exit(EXIT_FDFIT); /* the parent says why, and with which status it ends */
    }
    return pid;
}
