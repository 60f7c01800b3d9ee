/* die exit N | die signal N: end in exactly this way. The death leaves no core of its own, so that a core
 * flag seen further up can only be the launcher's. */
#include "helper.h"

#include <sys/resource.h>

static _Noreturn void die_by(int sig)
{
    struct rlimit none = {0, 0};
    struct {
        uintptr_t handler, flags, restorer, mask;
    } standard = {0};

    setrlimit(RLIMIT_CORE, &none);
    if (sig != SIGKILL && sig != SIGSTOP && syscall(SYS_rt_sigaction, sig, &standard, NULL, KERNEL_SET) < 0)
        give_up("rt_sigaction");
    block_exactly(0);
    syscall(SYS_kill, getpid(), sig);
    /* A signal that does nothing by default (CHLD, CONT, URG, WINCH) leaves the process alive. */
    _exit(0);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "exit") == 0)
        _exit((int)to_number(argv[2]));
    if (argc == 3 && strcmp(argv[1], "signal") == 0)
        die_by((int)to_number(argv[2]));
    fprintf(stderr, "usage: die exit|signal N\n");
    return EXIT_HELPER;
}
