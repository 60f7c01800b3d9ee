/* --explain: the whole decision, each value with its origin. */
#ifndef FDFIT_LAUNCHER_EXPLAIN_H
#define FDFIT_LAUNCHER_EXPLAIN_H

#include "launcher/launch.h"

/** Append the decision of a launch whose limit was decided (have_plan), or only its settings, the command as
 * it would be found, and the exit status that a start would have if the command can't be run. */
void explain_launch(const struct launch *l, bool have_plan, struct text *t);

#endif
