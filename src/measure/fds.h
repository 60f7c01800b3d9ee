/* The open descriptors of one process, by its /proc/PID/fd folder. */
#ifndef FDFIT_MEASURE_FDS_H
#define FDFIT_MEASURE_FDS_H

#include <stddef.h>
#include <stdint.h>

/** Count the descriptors numbered `from` or higher in an open /proc/PID/fd, leaving out the number `but` (-1:
 * none), and give the highest. The folder's position N + 2 is descriptor N (kernel fs/proc/fd.c,
 * proc_readfd_common), so when there are none this is one lseek and one getdents, whatever lies below.
 *  Returns 0 or -errno; *ret_highest is set only when the count is not 0. */
int fds_from(int dir, uint64_t from, int own, int own_too, uint64_t *ret_count, uint64_t *ret_highest);

/** Call each(number, data) for the descriptors numbered `from` or higher but `own`, in rising order. Returns
 * 0 or -errno. */
int fds_each(int dir, uint64_t from, int own, void (*each)(unsigned number, void *data), void *data);

#endif
