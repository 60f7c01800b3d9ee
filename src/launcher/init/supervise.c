#include "launcher/init/supervise.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/signals.h"
#include "base/sys.h"
#include "launcher/exec.h"
#include "launcher/say.h"
#include "measure/fds.h"
#include "measure/tree.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCKED   (~SIGNALS_SYNCHRONOUS)
#define FORWARDED (BLOCKED & ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP)))

struct supervisor {
    struct launch *l;
    struct init_state state;
    struct exit_map exit_map;
    pid_t main;
    int wait_status;   /* of the main child, once it ended */
    int signals;       /* the signalfd */
    uint64_t started;  /* milliseconds, monotonic */
    uint64_t deadline; /* the same; 0: none */
    uint64_t reaped, forwarded;
    bool done;
    bool refusal_said;
};

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- sending ---- */

static void say_refused(struct supervisor *s, int signal, pid_t pid)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    if (s->refusal_said)
        return;
    s->refusal_said = true;
    text_str(&line, "can't send ");
    signals_format(signal, &line);
    text_str(&line, " to pid ");
    text_u64(&line, (uint64_t)pid);
    text_str(&line, ": it runs as another user, and fdfit lacks CAP_KILL");
    msg_try(MSG_WARNING, s->l->most, line.at);
}

/* One process. What came by sigqueue(3) goes on with its value and its sender; the kernel takes no other
 * si_code from a process that sends to another one (rt_sigqueueinfo(2)). */
static void send_to(struct supervisor *s, pid_t pid, int signal, const struct signalfd_siginfo *info)
{
    int r = -EINVAL;

    if (info && info->ssi_code == SI_QUEUE) {
        union sigval value;

        memset(&value, 0, sizeof(value));
        memcpy(&value.sival_ptr, &info->ssi_ptr, sizeof(value.sival_ptr));
        r = signals_queue(pid, signal, (pid_t)info->ssi_pid, info->ssi_uid, value);
    }
    if (r < 0 && r != -ESRCH)
        r = kill(pid, signal) < 0 ? -errno : 0;
    if (r == -EPERM)
        say_refused(s, signal, pid);
}

static void send_to_rest(struct supervisor *s, int signal)
{
    struct tree tree;
    int proc = fd_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);

    if (proc < 0 || tree_list(proc, getpid(), &tree) < 0) {
        /* Without /proc: as PID 1 all that is in the namespace; a subreaper knows no more than its group. */
        if (s->state.is_pid1)
            kill(-1, signal);
        else
            kill(-s->main, signal);
    } else {
        for (size_t i = 0; i < tree.count; i++)
            send_to(s, tree.pid[i], signal, NULL);
    }
    fd_close(proc);
}

static void send_to_tree(struct supervisor *s, int signal, const struct signalfd_siginfo *info)
{
    struct tree tree;
    int proc = fd_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);

    send_to(s, s->main, signal, info);
    if (proc >= 0 && tree_list(proc, getpid(), &tree) >= 0)
        for (size_t i = 0; i < tree.count; i++)
            if (tree.pid[i] != s->main)
                send_to(s, tree.pid[i], signal, NULL);
    fd_close(proc);
}

static void send_to_workload(struct supervisor *s, int signal, const struct signalfd_siginfo *info)
{
    const struct value *to = &s->l->settings.value[KEY_SIGNAL_TO];

    s->forwarded++;
    if (value_is(to, WORD_TREE))
        send_to_tree(s, signal, info);
    else if (!value_is(to, WORD_GROUP) || kill(-s->main, signal) < 0)
        send_to(s, s->main, signal, info);
}

/* ---- acting ---- */

/* Stop as the child did, with the signal that it had, so that a shell reads the same from its wait. In an
 * orphaned group the kernel drops the terminal's stop signals, for fdfit as for the child. */
static void stop_self(int signal)
{
    struct sigaction plain = {.sa_handler = SIG_DFL}, old;

    if (signal == SIGSTOP) {
        kill(getpid(), SIGSTOP);
        return;
    }
    sigaction(signal, &plain, &old);
    kill(getpid(), signal);
    signals_set_mask(BLOCKED & ~SIGNAL_BIT(signal), NULL); /* here we stop, until CONT */
    signals_set_mask(BLOCKED, NULL);
    sigaction(signal, &old, NULL);
}

static void say_killed(struct supervisor *s)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    text_escaped(&line, s->l->command[0], strlen(s->l->command[0]));
    text_str(&line, " (pid ");
    text_u64(&line, (uint64_t)s->main);
    text_str(&line, ") did not end within ");
    text_duration(&line, s->state.grace);
    text_str(&line, " of TERM: sent KILL");
    msg_try(MSG_WARNING, s->l->most, line.at);
}

static void kill_rest(struct supervisor *s, bool again)
{
    if (!again)
        msg_try(MSG_WARNING, s->l->most, "processes were left after TERM and grace: sent KILL to them");
    send_to_rest(s, SIGKILL);
}

static void handle(struct supervisor *s, const struct init_event *e, const struct signalfd_siginfo *info)
{
    bool killed = s->state.killed;
    struct init_actions a = init_step(&s->state, e);

    if (a.what & INIT_FORWARD)
        send_to_workload(s, a.signal, info);
    if (a.what & INIT_KILL) {
        say_killed(s);
        send_to_workload(s, SIGKILL, NULL);
    }
    if (a.what & INIT_TERM_REST)
        send_to_rest(s, SIGTERM);
    if (a.what & INIT_KILL_REST)
        kill_rest(s, killed);
    if (a.what & INIT_DEADLINE)
        s->deadline = now_ms() + a.after;
    if (a.what & INIT_STOP_SELF)
        stop_self(a.signal);
    if (a.what & INIT_EXIT)
        s->done = true;
}

/* ---- events ---- */

static void on_wait(struct supervisor *s, pid_t pid, int status)
{
    struct init_event e = {.kind = INIT_ENDED};

    if (pid != s->main) {
        s->reaped += WIFEXITED(status) || WIFSIGNALED(status);
        return;
    }
    if (WIFSTOPPED(status)) {
        e.kind = INIT_STOPPED;
        e.signal = WSTOPSIG(status);
    } else if (WIFCONTINUED(status)) {
        e.kind = INIT_CONTINUED;
    } else {
        s->wait_status = status;
        s->deadline = 0;
    }
    handle(s, &e, NULL);
}

/* SIGCHLD merges: whatever number of them came, wait until nothing is left to wait for. */
static void reap(struct supervisor *s)
{
    int status;

    while (!s->done) {
        pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);

        if (pid > 0) {
            on_wait(s, pid, status);
        } else if (pid < 0 && errno == ECHILD) {
            handle(s, &(struct init_event){.kind = INIT_ALONE}, NULL);
            return;
        } else if (pid == 0) {
            return;
        }
    }
}

static void on_signal(struct supervisor *s, const struct signalfd_siginfo *info)
{
    struct init_event e = {
        .kind = INIT_SIGNAL,
        .signal = (int)info->ssi_signo,
        .from_kernel = info->ssi_code == SI_KERNEL,
    };

    /* SIGPIPE of our own: the reader of our messages is gone. */
    if (e.signal == SIGCHLD || (e.signal == SIGPIPE && info->ssi_pid == (uint32_t)getpid()))
        return;
    e.shared = getpgid(s->main) == getpgrp();
    handle(s, &e, info);
}

/* Read what came first and wait after that: a child that ends in between sends another SIGCHLD. Then the
 * waiting comes before the passing on, so that a CONT is judged by what the child does now. */
static void take_signals(struct supervisor *s)
{
    struct signalfd_siginfo infos[16];
    ssize_t n = read(s->signals, infos, sizeof(infos));

    reap(s);
    for (ssize_t i = 0; !s->done && (i + 1) * (ssize_t)sizeof(infos[0]) <= n; i++)
        on_signal(s, &infos[i]);
}

static void wait_for_event(struct supervisor *s)
{
    struct pollfd ready = {.fd = s->signals, .events = POLLIN};
    uint64_t left = s->deadline, now = now_ms();

    if (s->deadline)
        left = s->deadline > now ? s->deadline - now : 0;
    if (poll(&ready, 1, !s->deadline ? -1 : left > INT_MAX ? INT_MAX : (int)left) > 0)
        take_signals(s);
    if (!s->done && s->deadline && now_ms() >= s->deadline) {
        s->deadline = 0;
        handle(s, &(struct init_event){.kind = INIT_TIME}, NULL);
    }
}

/* ---- beginning and end ---- */

static void close_number(unsigned number, void *data)
{
    const struct init_own *own = data;

    if ((int)number != own->signals && (int)number != own->reports)
        close((int)number);
}

static bool close_between(int after, int before)
{
    return after + 1 == before || sys_close_range((unsigned)after + 1, (unsigned)before - 1) == 0;
}

/* What the workload inherited stays open here otherwise, and a pipe's reader would never see its end. Of the
 * first three only stderr is needed, for messages. */
static void close_inherited(const struct init_own *own)
{
    int low = own->signals < own->reports ? own->signals : own->reports;
    int high = own->signals < own->reports ? own->reports : own->signals;
    int dir;

    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    if (close_between(STDERR_FILENO, low) && close_between(low, high) &&
        sys_close_range((unsigned)high + 1, UINT_MAX) == 0)
        return;
    dir = fd_open(AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    if (dir >= 0)
        fds_each(dir, 3, dir, close_number, (void *)own);
    fd_close(dir);
}

static void be_parent_of_all(struct launch *l, const struct init_caller *caller, pid_t starter)
{
    const struct value *death = &l->settings.value[KEY_PARENT_DEATH];

    if (!caller->is_pid1)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (death->kind != VALUE_SIGNAL)
        return;
    prctl(PR_SET_PDEATHSIG, (unsigned long)death->number);
    if (getppid() != starter) /* it died before the kernel knew whom to tell */
        kill(getpid(), (int)death->number);
}

/* Read the child's reports to the end of the socket, which its exec closes. Returns 0 when the command runs,
 * or the exit code of fdfit when it does not, which is said. */
static int read_reports(struct launch *l, int socket)
{
    struct child_report r;
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);
    int code;

    for (;;) {
        ssize_t n = recv(socket, &r, sizeof(r), 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)sizeof(r))
            return 0;
        if (r.stage == CHILD_FAILED_EXEC) {
            code = exec_explain(l->command[0], r.error, l->environment, &line);
            msg_try(MSG_ERROR, l->most, line.at);
            return code;
        }
        if (r.stage == CHILD_FAILED_LIMIT) {
            msg_try(MSG_ERROR, l->most, r.line);
            return EXIT_FDFIT;
        }
        l->plan = r.plan;
        say_limit(l, !r.no_target, r.peak);
        if (r.inherited[0])
            msg_try(MSG_WARNING, l->most, r.inherited);
    }
}

static void configure(struct supervisor *s, struct launch *l, const struct init_caller *caller)
{
    char ignored[TEXT_LINE];
    TEXT_ON(checked_before, ignored); /* the lists were checked as a whole when they were read */

    memset(s, 0, sizeof(*s));
    s->l = l;
    s->started = now_ms();
    s->state.is_pid1 = caller->is_pid1;
    s->state.is_leader = caller->is_leader;
    s->state.wait_all = launch_flag(l, KEY_WAIT_ALL);
    s->state.grace = l->settings.value[KEY_GRACE].number;
    signal_map_parse(launch_text(l, KEY_REWRITE), &s->state.rewrite, &checked_before);
    exit_map_parse(launch_text(l, KEY_EXIT_MAP), &s->exit_map, &checked_before);
}

static void say_end(const struct supervisor *s)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);
    bool signaled = WIFSIGNALED(s->wait_status);

    text_escaped(&line, s->l->command[0], strlen(s->l->command[0]));
    text_str(&line, signaled ? " ended by signal " : " ended with status ");
    if (signaled)
        signals_format(WTERMSIG(s->wait_status), &line);
    else
        text_u64(&line, (uint64_t)WEXITSTATUS(s->wait_status));
    text_str(&line, " after ");
    text_duration(&line, now_ms() - s->started);
    text_str(&line, "; orphans reaped: ");
    text_u64(&line, s->reaped);
    text_str(&line, ", signals forwarded: ");
    text_u64(&line, s->forwarded);
    msg_try(MSG_DETAIL, s->l->most, line.at);
}

static void close_own(const struct init_own *own)
{
    fd_close(own->signals);
    fd_close(own->reports);
    fd_close(own->child);
}

/* All that can fail is opened before the fork, at 3 or higher. */
static int open_own(struct init_own *ret)
{
    int ends[2], r = 0;
    struct init_own own = {.signals = signals_open(FORWARDED)};

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        r = -errno;
    own.reports = r < 0 ? r : fd_own(ends[0]);
    own.child = r < 0 ? r : fd_own(ends[1]);
    if (own.signals >= 0 && own.reports >= 0 && own.child >= 0) {
        *ret = own;
        return 0;
    }
    close_own(&own);
    return own.signals < 0 ? own.signals : own.reports < 0 ? own.reports : own.child;
}

static int start(struct supervisor *s, const struct init_caller *caller, struct init_own *own,
                 struct text *reterr)
{
    int r = open_own(own);

    if (r < 0) {
        text_join(reterr, "can't open a signalfd and a socket pair: ", err_text(-r), NULL);
        return r;
    }
    s->signals = own->signals;
    s->main = child_start(s->l, caller, own);
    if (s->main < 0) {
        close_own(own);
        text_join(reterr, "can't fork: ", err_text(-s->main), NULL);
        return s->main;
    }
    own->child = fd_close(own->child);
    return 0;
}

/* From here on nothing may end the supervisor but the end of the workload. */
static struct init_end stay(struct supervisor *s, struct init_own *own)
{
    int code;

    close_inherited(own);
    if (chdir("/") < 0)
        msg_try(MSG_DETAIL, s->l->most, "can't change to /: the working folder stays in use");
    code = read_reports(s->l, own->reports);
    own->reports = fd_close(own->reports);
    if (code != 0)
        return (struct init_end){.by_signal = false, .value = code};
    while (!s->done)
        wait_for_event(s);
    say_end(s);
    return init_end(s->wait_status, &s->exit_map, s->state.is_pid1);
}

int supervise(struct launch *l, uint64_t mask, struct init_end *ret_end, struct text *reterr)
{
    struct init_caller caller = {.mask = mask, .is_pid1 = getpid() == 1, .is_leader = getsid(0) == getpid()};
    struct sigaction plain = {.sa_handler = SIG_DFL};
    pid_t starter = getppid();
    struct init_own own;
    struct supervisor s;
    int r;

    signals_set_mask(BLOCKED, NULL);
    sigaction(SIGCHLD, &plain, &caller.child_died);
    configure(&s, l, &caller);
    be_parent_of_all(l, &caller, starter);
    r = start(&s, &caller, &own, reterr);
    if (r < 0)
        return r;
    *ret_end = stay(&s, &own);
    return 0;
}

void end_by_signal(int signal)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};

    prctl(PR_SET_DUMPABLE, 0); /* no core of ours: a core pattern that is a pipe would not ask RLIMIT_CORE */
    sigaction(signal, &plain, NULL);
    kill(getpid(), signal);
    signals_set_mask(~SIGNAL_BIT(signal), NULL);
}
