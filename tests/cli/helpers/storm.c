/* storm N STATUS [wait]: start N short grandchildren as fast as fork allows, each an orphan at once, and
 * leave with STATUS in the middle of their deaths. With "wait" say "ready" and wait for the end of stdin
 * before the storm. */
#include "helper.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
    char c;

    if (argc < 3) {
        errno = EINVAL;
        give_up("usage");
    }
    if (argc > 3) {
        puts("ready");
        fflush(stdout);
        while (read(0, &c, 1) > 0)
            ;
    }
    for (long i = to_number(argv[1]); i > 0; i--) {
        /* The middle process is gone before the next one starts, its child need not be. */
        pid_t middle = fork();

        if (middle < 0)
            give_up("fork");
        if (middle == 0)
            _exit(fork() < 0);
        if (waitpid(middle, NULL, 0) != middle)
            give_up("waitpid");
    }
    _exit((int)to_number(argv[2]));
}
