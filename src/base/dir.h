/* The names in a folder, by getdents64(2): readdir(3) allocates. */
#ifndef FDFIT_BASE_DIR_H
#define FDFIT_BASE_DIR_H

/** Call each(name, data) for every name of an open folder, "." and ".." too, from its beginning.
 *  Returns 0 or -errno. */
int dir_each(int dir, void (*each)(const char *name, void *data), void *data);

/** The same from the folder's present position on. */
int dir_each_from_here(int dir, void (*each)(const char *name, void *data), void *data);

#endif
