/* A node below a settable root: "/" for the one we run on, a mounted one (a host in a container), or a
 * fixture. Everything in src/inspect reads through this, so that a symbolic link never leads out of the root.
 */
#ifndef FDFIT_INSPECT_ROOT_H
#define FDFIT_INSPECT_ROOT_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/** No file that we parse is larger. */
#define ROOT_FILE_MAX ((size_t)1024 * 1024)

struct root {
    const char *path; /* borrowed, as it was given */
    int dir;          /* owned */
    int proc;         /* owned: the /proc of that node; -1 where it has none */
};

/** Open the root. Returns 0, or a negative error with reterr. */
int root_open(const char *path, struct root *ret, struct text *reterr);
void root_close(struct root *root);

/** Open a path as a process whose root this is would: absolute, links are followed inside. O_CLOEXEC and
 *  O_NONBLOCK are added. Returns a descriptor or -errno (-ELOOP: a loop of links). */
int root_open_path(const struct root *root, const char *path, int flags);

/** Read a regular file whole. *ret_bytes is the caller's, by free(3); a NUL stands behind its *ret_n bytes.
 *  Returns 0 or -errno (-EFBIG: above ROOT_FILE_MAX; -EINVAL: no regular file). */
int root_read(const struct root *root, const char *path, char **ret_bytes, size_t *ret_n);

/** The names in a folder, sorted by bytes, "." and ".." left out; free with root_names_free.
 *  Returns 0 or -errno. */
int root_names(const struct root *root, const char *path, char ***ret_names, size_t *ret_count);
void root_names_free(char **names, size_t count);

/** Append a path as people find it from outside: with the root before it unless that is "/". */
void root_format(const struct root *root, const char *path, struct text *t);

#endif
