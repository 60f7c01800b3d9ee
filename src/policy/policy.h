/* The policy file: "key = value" lines, '#' comments. Parsing (a buffer) and reading (a file) are apart. */
#ifndef FDFIT_POLICY_POLICY_H
#define FDFIT_POLICY_POLICY_H

#include "policy/settings.h"

#define POLICY_MAX_BYTES (64 * 1024)
#define POLICY_MAX_LINE  4096

/** Parse a policy of n bytes. The buffer must have one byte of room behind them; it is changed (values are
 * ended by NULs in place) and must outlive the settings. name is what messages call the file. Returns 0, or
 * -EINVAL with reterr "name:line: reason" and settings that must not be used. */
int policy_parse(char *buffer, size_t n, const char *name, struct settings *settings, struct text *reterr);

/** Read the file at path into the buffer of POLICY_MAX_BYTES + 1. It is opened once, must be a regular file,
 * belong to root or the caller's effective user, and not be writable by group or others. Returns 0 and its
 * length, or a negative error with reterr. */
int policy_read(const char *path, char *buffer, size_t *ret_len, struct text *reterr);

/** Write the path that `-p WHAT` means: WHAT itself if it has a slash, else /etc/fdfit/WHAT.conf.
 *  Returns 0, or -ENAMETOOLONG / -EINVAL (empty) with reterr. */
int policy_path(const char *what, char *ret_path, size_t cap, struct text *reterr);

#endif
