/* The limit that an OCI configuration (config.json of a bundle, a base spec of containerd) gives its process:
 * process.rlimits (OCI runtime specification, config.md, "POSIX process"). */
#ifndef FDFIT_INSPECT_OCI_H
#define FDFIT_INSPECT_OCI_H

#include "inspect/assignment.h"
#include "inspect/json_file.h"
#include "inspect/problems.h"
#include "inspect/root.h"

/** Append each RLIMIT_NOFILE of process.rlimits with its line, under the name `path`; of several the last
 *  counts, since a runtime sets one after the other. None: nothing is appended, and the process inherits. An
 *  entry that a runtime refuses is appended as ASSIGNMENT_BAD. Returns 0 or -ENOMEM. */
int oci_take_limits(const struct json_file *file, const char *path, struct assignments *ret,
                    struct problems *problems);

/** The same of a file below a root. Returns also -EBADMSG (no JSON: a problem says where), or -errno (it
 * can't be read, and there is no problem). */
int oci_read_limits(const struct root *root, const char *config_json, struct assignments *ret,
                    struct problems *problems);

#endif
