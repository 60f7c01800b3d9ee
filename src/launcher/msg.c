#include "launcher/msg.h"

#include "base/fd.h"
#include "base/signals.h"
#include "base/text.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

/* The reader of our stderr may be gone. SIGPIPE must then neither end us before the workload starts nor be
 * left changed for the workload, so it is ignored just around the write. */
static int write_without_sigpipe(int fd, const char *bytes, size_t n)
{
    const struct signal_action ignore = {.handler = (uintptr_t)SIG_IGN};
    struct signal_action old;
    int r;

    signals_set_action(SIGPIPE, &ignore, &old);
    r = fd_write_all(fd, bytes, n);
    signals_set_action(SIGPIPE, &old, NULL);
    return r;
}

static void compose(struct text *t, enum msg_level level, const char *line)
{
    text_join(t, level == MSG_WARNING ? "fdfit: warning: " : "fdfit: ", line, NULL);
    if (t->len == t->cap - 1)
        t->len--; /* a line that was cut off ends as a line all the same */
    text_char(t, '\n');
}

void msg(enum msg_level level, enum msg_level most, const char *line)
{
    char buffer[TEXT_LINE + 32];
    TEXT_ON(t, buffer);

    if (level > most)
        return;
    compose(&t, level, line);
    write_without_sigpipe(STDERR_FILENO, t.at, t.len);
}

void msg_try(enum msg_level level, enum msg_level most, const char *line)
{
    struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};
    char buffer[TEXT_LINE + 32];
    TEXT_ON(t, buffer);

    if (level > most || poll(&err, 1, 0) != 1 || !(err.revents & POLLOUT))
        return;
    compose(&t, level, line);
    /* A pipe that has room takes a line of this length whole (pipe(7), PIPE_BUF). */
    if (write(STDERR_FILENO, t.at, t.len) < 0)
        return;
}

int msg_print(const char *bytes)
{
    return write_without_sigpipe(STDOUT_FILENO, bytes, strlen(bytes));
}
