/* The least supervisor of lock = clamp: clamp_driver -n SOFT:HARD -- COMMAND [ARG...]. It supervises until
 * the command itself ended, and then says its counts. */
#include "launcher/init/clamp.h"
#include "policy/lock.h"

#include "../helper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void say(const char *line)
{
    dprintf(STDERR_FILENO, "fdfit: %s\n", line);
}

static struct nofile read_pair(char *text)
{
    char *colon = strchr(text, ':');

    if (!colon)
        give_up("no SOFT:HARD");
    *colon = '\0';
    return (struct nofile){.soft = (uint64_t)to_number(text), .hard = (uint64_t)to_number(colon + 1)};
}

/* In the child, whose descriptors are the parent's until it executes. */
static void become(const struct nofile *limit, int report, char **command)
{
    char why[TEXT_LINE];
    TEXT_ON(t, why);
    bool no_new_privs, killable;
    int listener = -1, r;

    if (sys_prlimit_nofile(0, limit, NULL) < 0)
        give_up("prlimit");
    r = lock_install_listener(&listener, &no_new_privs, &killable, &t);
    if (r == LOCK_BUSY) {
        say("busy: deny");
        r = lock_load(LOCK_DENY, &no_new_privs, &t);
    }
    if (r < 0) {
        say(t.at);
        _exit(125);
    }
    if (no_new_privs)
        say("no_new_privs");
    if (write(report, &listener, sizeof(listener)) != sizeof(listener))
        give_up("write");
    execvp(command[0], command);
    give_up(command[0]);
}

static void serve_once(struct clamp *c, short revents)
{
    struct clamp_report report;
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    if (clamp_serve(c, revents, &report) == CLAMP_ENDED || report.kind == CLAMP_NOTHING)
        return;
    clamp_report_format(&report, &line);
    say(line.at);
}

/* Until the child ended: what is left after it is not supervised. */
static int serve(struct clamp *c, pid_t child, int pidfd)
{
    int status;

    for (;;) {
        struct pollfd ready[] = {{.fd = c->listener, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};

        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            give_up("poll");
        if (ready[0].revents)
            serve_once(c, ready[0].revents);
        if (ready[1].revents && waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

int main(int argc, char **argv)
{
    char why[TEXT_LINE];
    TEXT_ON(t, why);
    int ends[2], listener, status;
    struct nofile limit;
    struct clamp clamp;
    pid_t child;

    if (argc < 5 || strcmp(argv[1], "-n") != 0 || strcmp(argv[3], "--") != 0)
        give_up("usage: clamp_driver -n SOFT:HARD -- COMMAND [ARG...]");
    limit = read_pair(argv[2]);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (clamp_possible(&t) != 0) {
        say(t.at);
        return 125;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        give_up("pipe2");
    child = lock_fork();
    if (child == 0)
        become(&limit, ends[1], argv + 4);
    close(ends[1]);
    if (read(ends[0], &listener, sizeof(listener)) != sizeof(listener))
        return 125;
    clamp_init(&clamp, listener, &limit);
    if (caps_drop(true) < 0)
        give_up("caps_drop");
    status = serve(&clamp, child, (int)syscall(SYS_pidfd_open, child, 0));
    clamp_deinit(&clamp);
    dprintf(STDERR_FILENO, "fdfit: set %llu, cut %llu, refused %llu\n", (unsigned long long)clamp.set,
            (unsigned long long)clamp.cut, (unsigned long long)clamp.refused);
    return status;
}
