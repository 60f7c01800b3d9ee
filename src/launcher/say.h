/* What a start says about its limit; the same in exec and init mode. */
#ifndef FDFIT_LAUNCHER_SAY_H
#define FDFIT_LAUNCHER_SAY_H

#include "launcher/launch.h"

/** Say a peak file's warning ("" for none), the decision in l->plan if one was made, what is to be known
 * about it, and with -v the FDFIT_ variables that are left to the workload. */
void say_limit(const struct launch *l, bool have_plan, const char *peak_warning);

/** Say a text at a level unless it is empty. */
void say_text(const struct launch *l, enum msg_level level, const struct text *t);

#endif
