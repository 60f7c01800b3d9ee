#include "launcher/init/send.h"

#include "base/err.h"
#include "base/fd.h"
#include "measure/tree.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void say_refused(struct supervisor *s, int signal, pid_t pid)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    if (s->refusal_said)
        return;
    s->refusal_said = true;
    text_str(&line, "can't send ");
    signals_format(signal, &line);
    text_number(&line, " to pid ", (uint64_t)pid);
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

void send_to_rest(struct supervisor *s, int signal)
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

/* The main child last: where its end ends the namespace, the others have had the signal by then. */
static void send_to_tree(struct supervisor *s, int signal, const struct signalfd_siginfo *info)
{
    struct tree tree;
    int proc = fd_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);

    if (proc >= 0 && tree_list(proc, getpid(), &tree) >= 0)
        for (size_t i = 0; i < tree.count; i++)
            if (tree.pid[i] != s->main)
                send_to(s, tree.pid[i], signal, NULL);
    fd_close(proc);
    send_to(s, s->main, signal, info);
}

void send_to_workload(struct supervisor *s, int signal, const struct signalfd_siginfo *info)
{
    const struct value *to = &s->l->settings.value[KEY_SIGNAL_TO];

    s->forwarded++;
    if (value_is(to, WORD_TREE))
        send_to_tree(s, signal, info);
    else if (!value_is(to, WORD_GROUP) || kill(-s->main, signal) < 0)
        send_to(s, s->main, signal, info);
}
