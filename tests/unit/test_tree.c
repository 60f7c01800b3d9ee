#include "suite.h"

#include "measure/tree.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tree tree;

static bool holds(pid_t pid)
{
    for (size_t i = 0; i < tree.count; i++)
        if (tree.pid[i] == pid)
            return true;
    return false;
}

static void list(void)
{
    int proc = open("/proc", O_RDONLY | O_DIRECTORY);

    ck_assert_int_eq(tree_list(proc, getpid(), &tree), 0);
    close(proc);
}

/* A child that waits, with a child of its own that waits; its pid comes through a pipe. */
static pid_t start_pair(pid_t *ret_grandchild)
{
    int ends[2];
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        pid_t grandchild = fork();

        if (grandchild > 0 && write(ends[1], &grandchild, sizeof(grandchild)) < 0)
            _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ends[0], ret_grandchild, sizeof(*ret_grandchild)), sizeof(*ret_grandchild));
    close(ends[0]);
    close(ends[1]);
    return child;
}

START_TEST(children_and_grandchildren_are_listed_and_nobody_else)
{
    pid_t grandchild, child = start_pair(&grandchild);

    list();
    ck_assert_uint_eq(tree.count, 2);
    ck_assert(holds(child));
    ck_assert(holds(grandchild));
    kill(grandchild, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}
END_TEST

static void *fork_in_thread(void *data)
{
    pid_t *pid = data;

    *pid = fork();
    for (;;)
        pause(); /* the child hangs below this thread, so the thread stays; the child waits here too */
    return NULL;
}

START_TEST(the_child_of_another_thread_is_listed)
{
    static volatile pid_t child;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, fork_in_thread, (void *)&child), 0);
    while (child == 0)
        usleep(1000);
    list();
    ck_assert(holds(child));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}
END_TEST

START_TEST(without_children_the_list_is_empty)
{
    list();
    ck_assert_uint_eq(tree.count, 0);
}
END_TEST

SUITE("tree", children_and_grandchildren_are_listed_and_nobody_else, the_child_of_another_thread_is_listed,
      without_children_the_list_is_empty)
