/* Carry a plan out on a process: decide, set, and where the kernel refuses, find out why and decide again. */
#ifndef FDFIT_POLICY_APPLY_H
#define FDFIT_POLICY_APPLY_H

#include "policy/plan.h"

/** Decide and set the pair on pid (0: the caller) by one prlimit64 call, so that soft and hard change
 * together. in->nr_open is read only when the decision or a refusal needs it; in is updated with what was
 * learnt. Returns 0, PLAN_NO_TARGET, or a negative error with reterr as plan_make gives it; then no limit was
 * changed. */
int apply_settings(const struct settings *s, struct plan_in *in, pid_t pid, struct plan *ret,
                   struct text *reterr);

#endif
