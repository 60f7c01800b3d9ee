/* Limits as people read them. */
#ifndef FDFIT_POLICY_LIMIT_H
#define FDFIT_POLICY_LIMIT_H

#include "base/sys.h"
#include "base/text.h"

/** Append a limit: a number, or "unlimited". */
void limit_format(uint64_t limit, struct text *t);

/** Append "soft:hard". */
void nofile_format(const struct nofile *pair, struct text *t);

#endif
