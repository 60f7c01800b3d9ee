/* refuse-calls NAME CMD...: become CMD with a system call refused: seccomp (all of it), or prctl (with
 * EPERM). */
#include "../helper.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
    unsigned number = argc > 2 && strcmp(argv[1], "prctl") == 0 ? SYS_prctl : SYS_seccomp;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

    if (argc < 3) {
        errno = EINVAL;
        give_up("usage: refuse-calls seccomp|prctl CMD...");
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        give_up("the filter");
    execvp(argv[2], argv + 2);
    give_up(argv[2]);
}
