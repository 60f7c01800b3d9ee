/* The processes below one process. */
#ifndef FDFIT_MEASURE_TREE_H
#define FDFIT_MEASURE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** More descendants than this are not looked at in one go (64 KiB for the caller's frame). */
#define TREE_MAX 8192

struct tree {
    pid_t pid[TREE_MAX];
    pid_t parent[TREE_MAX]; /* of the same index */
    size_t count;
};

#define TREE_CUT 1 /* there are more than TREE_MAX; those in the tree are right */

/** List the descendants of root, without root, from an open /proc. Processes come and go meanwhile: one that
 * was not there for the whole call may be in the list or not.
 *
 *  The root of a pid namespace (root 1) is found by one walk of /proc, less what was put into the namespace
 * from outside (a debug shell: its ancestry ends at 0 without passing 1). Any other by
 * /proc/PID/task/TID/children, over all threads, since a child hangs below the thread that forked it
 * (proc(5)); where the kernel has no such file, by /proc as well. Returns 0, TREE_CUT, or -errno (no /proc).
 */
int tree_list(int proc, pid_t root, struct tree *ret);

#endif
