/* statuses [pid1] FIRST LAST -- CMD...: run CMD once for each number, with the number in place of every word
 * "@", and print "NUMBER STATUS", the status as wait(2) gives it. With pid1 each CMD is PID 1 of a namespace
 * of its own, with /proc to match: hundreds of them in one process cost less than an unshare(1) each. */
#include "helper.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static _Noreturn void become(char **argv, const char *number, int as_pid1)
{
    for (char **word = argv; *word; word++)
        if (strcmp(*word, "@") == 0)
            *word = (char *)number;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (as_pid1 && mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        give_up("mount /proc");
    execv(argv[0], argv);
    give_up(argv[0]);
}

/** Start one command, wait for it and print its status. */
static void measure(char **argv, long n, int as_pid1)
{
    char number[24];
    int status;
    pid_t pid;

    snprintf(number, sizeof number, "%ld", n);
    if (as_pid1 &&
        (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
        give_up("unshare");
    pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid == 0)
        become(argv, number, as_pid1);
    if (waitpid(pid, &status, 0) != pid)
        give_up("waitpid");
    printf("%ld %d\n", n, status);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int as_pid1 = argc > 1 && strcmp(argv[1], "pid1") == 0;
    char **words = argv + 1 + as_pid1;

    if (argc < 5 + as_pid1 || strcmp(words[2], "--") != 0) {
        errno = EINVAL;
        give_up("usage");
    }
    for (long n = to_number(words[0]); n <= to_number(words[1]); n++) {
        /* A namespace for children can be taken only once: a middle process takes each. */
        pid_t middle = fork();

        if (middle < 0)
            give_up("fork");
        if (middle == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            measure(words + 3, n, as_pid1);
            _exit(0);
        }
        int status;

        if (waitpid(middle, &status, 0) != middle || status != 0)
            return EXIT_HELPER;
    }
    return 0;
}
