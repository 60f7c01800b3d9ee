#include "launcher/init/supervise.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/sys.h"
#include "launcher/init/caps.h"
#include "launcher/init/send.h"
#include "launcher/init/start.h"

#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct signal_action by_default = {.handler = (uintptr_t)SIG_DFL};

static uint64_t now_ms(void)
{
    return sys_clock(CLOCK_MONOTONIC) / 1000000;
}

/* Stop as the child did, with the signal that it had, so that a shell reads the same from its wait. In an
 * orphaned group the kernel drops the terminal's stop signals, for fdfit as for the child. */
static void stop_self(int signal)
{
    struct signal_action old;

    if (signal == SIGSTOP) {
        kill(getpid(), SIGSTOP);
        return;
    }
    signals_set_action(signal, &by_default, &old);
    kill(getpid(), signal);
    signals_set_mask(SUPERVISOR_BLOCKED & ~SIGNAL_BIT(signal), NULL); /* here we stop, until CONT */
    signals_set_mask(SUPERVISOR_BLOCKED, NULL);
    signals_set_action(signal, &old, NULL);
}

static void say_killed(struct supervisor *s)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    text_escaped(&line, s->l->command[0], strlen(s->l->command[0]));
    text_number(&line, " (pid ", (uint64_t)s->main);
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

static void answer(struct supervisor *s, short revents)
{
    struct clamp_report report;
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    if (clamp_serve(&s->clamp, revents, &report) == CLAMP_ENDED || report.kind == CLAMP_NOTHING)
        return;
    clamp_report_format(&report, &line);
    msg_try(MSG_INFO, s->l->most, line.at);
}

/* Milliseconds for poll(2) until something is due; -1: nothing is, so that an idle supervisor never wakes up.
 */
static int time_left(const struct supervisor *s, uint64_t now)
{
    uint64_t due = num_min(s->deadline ? s->deadline : UINT64_MAX, watch_due(&s->watch));

    if (s->state.stop)
        return 0;
    if (due == UINT64_MAX)
        return -1;
    return due <= now ? 0 : (int)num_min(due - now, INT_MAX);
}

static struct watch_counts counts_of(const struct supervisor *s)
{
    return (struct watch_counts){
        .reaped = s->reaped,
        .has_lock = !value_is(&s->l->settings.value[KEY_LOCK], WORD_NO),
        .lock_refusals = s->clamp.cut + s->clamp.refused,
    };
}

static void turn_watch(struct supervisor *s, uint64_t now)
{
    const struct watch_counts counts = counts_of(s);

    watch_turn(&s->watch, &counts, now);
}

static void end_watch(struct supervisor *s)
{
    const struct watch_counts counts = counts_of(s);

    watch_end(&s->watch, &counts, now_ms());
}

static void wait_for_event(struct supervisor *s)
{
    struct pollfd ready[] = {{.fd = s->signals, .events = POLLIN},
                             {.fd = s->clamp.listener, .events = POLLIN}};
    uint64_t now;

    if (poll(ready, 2, time_left(s, now_ms())) > 0) {
        if (ready[0].revents)
            take_signals(s);
        if (ready[1].revents)
            answer(s, ready[1].revents);
    } else if (s->state.stop) {
        handle(s, &(struct init_event){.kind = INIT_QUIET}, NULL);
    }
    now = now_ms();
    if (!s->done && s->deadline && now >= s->deadline) {
        s->deadline = 0;
        handle(s, &(struct init_event){.kind = INIT_TIME}, NULL);
    }
    if (!s->done && now >= watch_due(&s->watch))
        turn_watch(s, now);
}

static void be_parent_of_all(struct launch *l, const struct init_caller *caller, pid_t starter)
{
    const struct value *death = &l->settings.value[KEY_PARENT_DEATH];

    if (!caller->is_pid1)
        sys_prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (death->kind != VALUE_SIGNAL)
        return;
    sys_prctl(PR_SET_PDEATHSIG, (unsigned long)death->number);
    if (getppid() != starter) /* it died before the kernel knew whom to tell */
        kill(getpid(), (int)death->number);
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
    text_number(&line, "; orphans reaped: ", s->reaped);
    text_number(&line, ", signals forwarded: ", s->forwarded);
    if (s->clamp.cut + s->clamp.refused > 0) {
        text_number(&line, ", limits kept or refused: ", s->clamp.cut + s->clamp.refused);
    }
    watch_format(&s->watch, &line);
    msg_try(MSG_DETAIL, s->l->most, line.at);
}

/* The capabilities go last: what was opened before stays open. */
static void begin_clamp(struct supervisor *s, int listener)
{
    s->clamp.listener = s->clamp.proc = -1;
    if (listener >= 0)
        clamp_init(&s->clamp, listener, &s->l->plan.limit);
    if (caps_drop(listener >= 0) < 0)
        msg_try(MSG_DETAIL, s->l->most, "can't drop capabilities: they stay");
}

/* From here on nothing may end the supervisor but the end of the workload. */
static struct init_end stay(struct supervisor *s, struct init_own *own)
{
    int code, listener;

    start_close_inherited(own);
    code = start_wait(s->l, own->reports, &listener);
    own->reports = fd_close(own->reports);
    if (code != 0)
        return (struct init_end){.by_signal = false, .value = code};
    watch_begin(&s->watch, s->l, now_ms()); /* opens its folders by the present one */
    if (chdir("/") < 0)
        msg_try(MSG_DETAIL, s->l->most, "can't change to /: the working folder stays in use");
    begin_clamp(s, listener);
    while (!s->done)
        wait_for_event(s);
    say_end(s);
    end_watch(s);
    clamp_deinit(&s->clamp);
    return init_end(s->wait_status, &s->exit_map, s->state.is_pid1);
}

static void check_clamp(struct launch *l)
{
    char reason[TEXT_LINE], buffer[2 * TEXT_LINE];
    TEXT_ON(why, reason);
    TEXT_ON(line, buffer);

    if (!value_is(&l->settings.value[KEY_LOCK], WORD_CLAMP) || clamp_possible(&why) == 0)
        return;
    l->settings.value[KEY_LOCK].number = WORD_DENY;
    text_join(&line, "lock = deny instead of clamp: ", why.at, NULL);
    msg(MSG_WARNING, l->most, line.at);
}

int supervise(struct launch *l, uint64_t mask, struct init_end *ret_end, struct text *reterr)
{
    struct init_caller caller = {.mask = mask, .is_pid1 = getpid() == 1, .is_leader = getsid(0) == getpid()};
    pid_t starter = getppid();
    struct init_own own;
    struct supervisor s;
    int r;

    check_clamp(l);
    signals_set_mask(SUPERVISOR_BLOCKED, NULL);
    signals_set_action(SIGCHLD, &by_default, &caller.child_died);
    configure(&s, l, &caller);
    be_parent_of_all(l, &caller, starter);
    r = start_child(&s, &caller, &own, reterr);
    if (r < 0)
        return r;
    *ret_end = stay(&s, &own);
    return 0;
}

void end_by_signal(int signal)
{
    sys_prctl(PR_SET_DUMPABLE,
              0); /* no core of ours: a core pattern that is a pipe would not ask RLIMIT_CORE */
    signals_set_action(signal, &by_default, NULL);
    kill(getpid(), signal);
    signals_set_mask(~SIGNAL_BIT(signal), NULL);
}
