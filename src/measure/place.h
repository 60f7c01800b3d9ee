/* A file that is replaced as a whole, by its folder and name: the folder is opened once, early, so that
 * neither chdir(2) nor a renamed path matters afterwards. Neither fsync nor waiting for a lock: a hung volume
 * or another writer must not stop the caller, which reaps processes. */
#ifndef FDFIT_MEASURE_PLACE_H
#define FDFIT_MEASURE_PLACE_H

#include "base/text.h"

#include <limits.h>

#define PLACE_BUSY 1 /* another writer holds the lock: try again later */

struct place {
    int folder;              /* owned; -1 when closed */
    char name[NAME_MAX + 1]; /* of the file in it */
};

/** Split path, and open its folder. Returns 0; or -EINVAL (no name at its end, or a name too long for the
 * endings .lock and .new) or another negative error, with reterr. */
int place_open(const char *path, struct place *ret, struct text *reterr);

/** Close the folder. Takes a closed or a zeroed place as well if its folder is -1. */
void place_close(struct place *place);

/** Try to take the lock NAME.lock beside the file; it is made when absent (0644) and stays.
 *  Returns the lock's descriptor, to be closed by the caller, -EBUSY when somebody else holds it (reterr
 * untouched), or another negative error with reterr. */
int place_lock(const struct place *place, struct text *reterr);

/** Write NAME.new and rename it over NAME, mode 0644. Only under the lock. A reader finds the old bytes or
 * the new ones, whenever the writer dies. Returns 0 or a negative error with reterr. */
int place_replace(const struct place *place, const char *bytes, size_t n, struct text *reterr);

/** Lock, replace, unlock. Returns 0, PLACE_BUSY, or a negative error with reterr. */
int place_write(const struct place *place, const char *bytes, size_t n, struct text *reterr);

/** Read the file: a regular one, no symbolic link, of at most cap bytes. Returns 0; -ENOENT (reterr
 * untouched); or another negative error with reterr. */
int place_read(const struct place *place, char *buffer, size_t cap, size_t *ret_n, struct text *reterr);

/** What both kinds of reading share: open a regular file below dir with the flags added (O_NOFOLLOW), and
 * read it whole. Returns as place_read. */
int regular_read(int dir, const char *path, int flags, char *buffer, size_t cap, size_t *ret_n,
                 struct text *reterr);

#endif
