/* family [SETTING...]: this process and one child; both block all signals and say on stdout what they get.
 *   group      the child has a process group of its own
 *   session    the child has a session of its own
 *   stubborn   the child does not end by TERM
 *   leave=N    this process leaves with status N as soon as the child is ready
 * At the start "child PID" and, when both are ready, "parent PID"; then "child SIGNAL" or "parent SIGNAL" for
 * each signal. Both end by TERM, the parent with status 0. */
#include "helper.h"

static void say(const char *who, int number)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%s %d\n", who, number);

    /* One write each: two processes share the pipe. */
    if (write(1, line, (size_t)n) != n)
        _exit(EXIT_HELPER);
}

static _Noreturn void report(const char *who, int stubborn)
{
    for (;;) {
        int sig = await_signal(~UINT64_C(0), NULL);

        say(who, sig);
        if (sig == SIGTERM && !stubborn)
            _exit(0);
    }
}

int main(int argc, char **argv)
{
    int group = 0, session = 0, stubborn = 0, leave = -1, ready[2];
    char c;

    for (int i = 1; i < argc; i++) {
        const char *value = value_of(argv[i], "leave");

        group |= strcmp(argv[i], "group") == 0;
        session |= strcmp(argv[i], "session") == 0;
        stubborn |= strcmp(argv[i], "stubborn") == 0;
        leave = value ? (int)to_number(value) : leave;
    }
    block_exactly(~UINT64_C(0));
    if (pipe(ready) < 0)
        give_up("pipe");
    pid_t pid = fork();

    if (pid < 0)
        give_up("fork");
    if (pid == 0) {
        if ((group && setpgid(0, 0) < 0) || (session && setsid() < 0))
            give_up("setsid");
        say("child", getpid());
        close(ready[0]);
        close(ready[1]);
        report("child", stubborn);
    }
    close(ready[1]);
    if (read(ready[0], &c, 1) != 0)
        give_up("the child");
    say("parent", getpid());
    if (leave >= 0)
        _exit(leave);
    report("parent", 0);
}
