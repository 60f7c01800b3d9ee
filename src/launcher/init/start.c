#include "launcher/init/start.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "launcher/exec.h"
#include "launcher/say.h"
#include "measure/fds.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

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

void start_close_inherited(const struct init_own *own)
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

static void say_started(const struct launch *l, const struct child_report *r)
{
    say_limit(l, !r->no_target, r->peak);
    if (r->inherited[0])
        msg_try(MSG_WARNING, l->most, r->inherited);
    if (r->lock[0])
        msg_try(MSG_INFO, l->most, r->lock);
}

static int say_failed(const struct launch *l, const struct child_report *r)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);
    int code = EXIT_FDFIT;

    if (r->stage == CHILD_FAILED_EXEC)
        code = exec_explain(l->command[0], r->error, l->environment, &line);
    else
        text_str(&line, r->line);
    msg_try(MSG_ERROR, l->most, line.at);
    return code;
}

int start_wait(struct launch *l, int socket, int *ret_listener)
{
    struct child_report r;
    int listener;

    *ret_listener = -1;
    while (child_receive(socket, &r, &listener) > 0) {
        if (r.stage != CHILD_LIMITED)
            return say_failed(l, &r);
        l->plan = r.plan;
        *ret_listener = listener;
        if (r.has_listener && listener < 0)
            msg_try(MSG_ERROR, l->most,
                    "the lock's listener did not arrive: calls that set the limit will give ENOSYS");
        say_started(l, &r);
    }
    return 0;
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
    int ends[2];
    struct init_own own = {.signals = signals_open(SUPERVISOR_FORWARDED)};
    int r = sys_socketpair(SOCK_SEQPACKET | SOCK_CLOEXEC, ends);

    own.reports = r < 0 ? r : fd_own(ends[0]);
    own.child = r < 0 ? r : fd_own(ends[1]);
    if (own.signals >= 0 && own.reports >= 0 && own.child >= 0) {
        *ret = own;
        return 0;
    }
    close_own(&own);
    return own.signals < 0 ? own.signals : own.reports < 0 ? own.reports : own.child;
}

int start_child(struct supervisor *s, const struct init_caller *caller, struct init_own *own,
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
