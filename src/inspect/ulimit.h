/* "nofile=SOFT:HARD" as Docker, CRI-O and podman read it (github.com/docker/go-units, ParseUlimit). Pure. */
#ifndef FDFIT_INSPECT_ULIMIT_H
#define FDFIT_INSPECT_ULIMIT_H

#include "base/sys.h"
#include "base/text.h"

#include <stddef.h>

/** Another resource than nofile. */
#define ULIMIT_OTHER 1

/** Read NAME=SOFT[:HARD]; without HARD it is SOFT. -1 and "infinity" are unlimited. Returns 0, ULIMIT_OTHER,
 * or -EINVAL with reterr, which says what the engines refuse. */
int ulimit_parse(const char *s, struct nofile *ret, struct text *reterr);

/** Read n bytes as Go reads an int64 for a limit: -1 is unlimited; what is below becomes a number that is too
 *  large for any kernel, as in Go. Returns 0, or -EINVAL. */
int ulimit_parse_number(const char *s, size_t n, uint64_t *ret);

#endif
