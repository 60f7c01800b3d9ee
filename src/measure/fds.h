/* The open descriptors of one process, by its /proc/PID/fd folder. */
#ifndef FDFIT_MEASURE_FDS_H
#define FDFIT_MEASURE_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** True when this process certainly has no descriptor numbered `from` or higher; false when it may have one.
 * One select(2), without /proc, whose opening costs a start as much as thirty other calls: numbers at or
 * above the size of the process's table are not looked at (kernel fs/select.c, core_sys_select), so the table
 * is shown to be small. */
bool fds_none_from(uint64_t from);

/** Count the descriptors numbered `from` or higher in an open /proc/PID/fd, leaving out two numbers of the
 * caller's own
 *  (-1: none), and give the highest. The folder's position N + 2 is descriptor N (kernel fs/proc/fd.c,
 *  proc_readfd_common), so when there are none this is one lseek and one getdents, whatever lies below.
 *  Returns 0 or -errno; *ret_highest is set only when the count is not 0. */
int fds_from(int dir, uint64_t from, int own, int own_too, uint64_t *ret_count, uint64_t *ret_highest);

/** Call each(number, data) for the descriptors numbered `from` or higher but `own`, in rising order. Returns
 * 0 or -errno. */
int fds_each(int dir, uint64_t from, int own, void (*each)(unsigned number, void *data), void *data);

#endif
