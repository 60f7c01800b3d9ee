/* orphans N: make N processes that lose their parent and then end, at most 100 at a time; print "made N";
 * stay until stdin ends and leave with 0. Whoever took them in must have reaped them: this program never
 * does. */
#include "helper.h"

#include <sys/wait.h>

enum { BATCH = 100 };

/** Children that wait until their parent, this process, is gone: it alone holds the writing end. */
static _Noreturn void batch_parent(long n)
{
    int gone[2];
    char c;

    if (pipe(gone) < 0)
        give_up("pipe");
    for (long i = 0; i < n; i++) {
        pid_t pid = fork();

        if (pid < 0)
            give_up("fork");
        if (pid == 0) {
            close(gone[1]);
            _exit(read(gone[0], &c, 1) < 0);
        }
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    long left = argc > 1 ? to_number(argv[1]) : 0;
    char c;

    for (long n; left > 0; left -= n) {
        pid_t pid;
        int status;

        n = left < BATCH ? left : BATCH;
        pid = fork();
        if (pid < 0)
            give_up("fork");
        if (pid == 0)
            batch_parent(n);
        if (waitpid(pid, &status, 0) != pid || status != 0)
            return EXIT_HELPER;
    }
    printf("made %s\n", argc > 1 ? argv[1] : "0");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
    return 0;
}
