#include "launcher/init/step.h"

#include <sys/wait.h>

/* After KILL to all, one that was forked in between may be left: look again. */
#define KILL_AGAIN 100

/* How long the others have after TERM where wait-all was asked for and grace was not. */
#define GRACE_OF_REST 10000

/* The signals that a terminal, or the shell behind it, sends to a whole group. */
static bool is_terminal_signal(int signal)
{
    return (SIGNAL_BIT(signal) &
            (SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGQUIT) | SIGNAL_BIT(SIGTSTP) |
             SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU) | SIGNAL_BIT(SIGWINCH))) != 0;
}

/* The main child has had this signal from the one who sent it to us, or was never meant to have it. */
static bool is_not_for_child(struct init_state *s, const struct init_event *e)
{
    if (e->signal == SIGCONT) {
        bool resumed = s->mirrored && e->shared && !s->stopped; /* by `fg`, which wakes the whole group */

        s->mirrored = false;
        s->stop = 0;
        /* When a terminal hangs up the kernel sends its session leader HUP and then CONT, so that a stopped
         * process notices the HUP; for one that runs it means nothing. */
        return resumed || (e->from_kernel && !s->stopped);
    }
    return e->from_kernel && e->shared && is_terminal_signal(e->signal);
}

static struct init_actions on_signal(struct init_state *s, const struct init_event *e)
{
    struct init_actions a = {.what = 0};
    int to = s->rewrite.to[e->signal];

    if (s->last || to == 0 || is_not_for_child(s, e))
        return a;
    a.what = INIT_FORWARD;
    a.signal = to;
    if (e->signal == SIGTERM && s->grace > 0 && !s->grace_runs) {
        s->grace_runs = true;
        a.what |= INIT_DEADLINE;
        a.after = s->grace;
    }
    return a;
}

/* Job control: a shell sees that its job stopped only if fdfit stops with it. A namespace's PID 1 can't, and
 * the leader of a session has no shell above it (a service of systemd's): who continues its child would not
 * know to continue fdfit as well. */
static void on_stopped(struct init_state *s, const struct init_event *e)
{
    s->stopped = true;
    if (!s->is_pid1 && !s->is_leader && !s->last)
        s->stop = e->signal;
}

/* Who saw the child stop may have sent CONT already. A stop of ours throws a CONT that waits away
 * (kernel/signal.c, prepare_signal), and nobody would send another one: so what has come is handled first. */
static struct init_actions on_quiet(struct init_state *s)
{
    struct init_actions a = {.what = s->stop ? INIT_STOP_SELF : 0, .signal = s->stop};

    s->mirrored |= s->stop != 0;
    s->stop = 0;
    return a;
}

static struct init_actions on_ended(struct init_state *s)
{
    struct init_actions a = {.what = INIT_EXIT};

    if (!s->wait_all)
        return a;
    s->last = true;
    a.what = INIT_TERM_REST | INIT_DEADLINE;
    a.after = s->grace > 0 ? s->grace : GRACE_OF_REST;
    return a;
}

static struct init_actions on_time(struct init_state *s)
{
    struct init_actions a = {.what = INIT_KILL};

    if (s->last) {
        s->killed = true;
        a.what = INIT_KILL_REST | INIT_DEADLINE;
        a.after = KILL_AGAIN;
    }
    return a;
}

struct init_actions init_step(struct init_state *s, const struct init_event *e)
{
    const struct init_actions none = {.what = 0}, leave = {.what = INIT_EXIT};

    switch (e->kind) {
    case INIT_SIGNAL: return on_signal(s, e);
    case INIT_STOPPED: on_stopped(s, e); return none;
    case INIT_CONTINUED:
        s->stopped = false;
        s->stop = 0;
        return none;
    case INIT_QUIET: return on_quiet(s);
    case INIT_ENDED: return on_ended(s);
    case INIT_ALONE: return s->last ? leave : none;
    case INIT_TIME: return on_time(s);
    }
    return none;
}

struct init_end init_end(int wait_status, const struct exit_map *map, bool is_pid1)
{
    bool signaled = WIFSIGNALED(wait_status);
    int code = signaled ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);

    if (map->mapped[code])
        return (struct init_end){.by_signal = false, .value = map->to[code]};
    if (signaled && !is_pid1)
        return (struct init_end){.by_signal = true, .value = WTERMSIG(wait_status)};
    return (struct init_end){.by_signal = false, .value = code};
}
