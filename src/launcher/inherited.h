/* Descriptors that were inherited open at or above the new soft limit: they stay usable, and a close loop by
 * the limit never reaches them, so they leak into every child. */
#ifndef FDFIT_LAUNCHER_INHERITED_H
#define FDFIT_LAUNCHER_INHERITED_H

#include "base/text.h"
#include "policy/settings.h"

#include <stdint.h>

/** The first number behind the descriptors that systemd passed to this process (sd_listen_fds(3): LISTEN_FDS
 * counts from 3 on, and is meant for the process that LISTEN_PID names); 3 when there are none. */
uint64_t inherited_reserved(char *const *environment);

/** Open what inherited_handle looks into, if that may be needed. To be called before the limit is set: where
 * every number below the new soft limit is taken, nothing can be opened any more. Returns a descriptor, or a
 * negative number, which the other takes as it is. */
int inherited_open(const struct settings *s);

/** Do what `inherited-fds` says with the descriptors at or above soft: append a warning that names their
 * count and the highest, close them (all but 0 to 2 and those that systemd passed), or nothing. `dir` is of
 * inherited_open, and is closed if it is one; without /proc a warning says that it can't be known. `own` is a
 * descriptor of fdfit's that is left alone and not counted (-1: none). Never fails: what could not be done is
 * in the warning. */
void inherited_handle(const struct value *how, uint64_t soft, int dir, int own, char *const *environment,
                      struct text *warning);

#endif
