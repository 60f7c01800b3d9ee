/* One start: what was asked for, what is there, what was decided. Lives in main's frame, and is small, so
 * that a start touches few pages of stack (base/frame.h). */
#ifndef FDFIT_LAUNCHER_LAUNCH_H
#define FDFIT_LAUNCHER_LAUNCH_H

#include "launcher/msg.h"
#include "policy/plan.h"
#include "policy/policy.h"

#include <limits.h>

/** Exit codes of fdfit itself; the workload's own status is everything else. */
enum launch_exit { EXIT_FDFIT = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct launch {
    struct settings settings;
    struct plan_in in;
    struct plan plan;
    char **command;     /* argv from the command on; its first is NULL when there is none */
    char **environment; /* without the variables that were read */
    enum msg_level most;
    const char *policy_name; /* "" without a policy */
};

/** Where a policy file is read to; the settings point into it. */
struct launch_policy {
    char name[PATH_MAX];
    char bytes[POLICY_MAX_BYTES + 1];
};

/** True when the options ask for a text or a copy of the program, not for a start. */
bool launch_starts_nothing(const struct launch *l);

/** Read the arguments, and for a start the environment too, into l->settings. Returns 0, or a negative error
 * with reterr. */
int launch_read(struct launch *l, int argc, char **argv, char **environment, struct text *reterr);

/** Read the policy file that the settings name into l->settings. `room` must outlive l.
 *  Returns 0, or a negative error with reterr. */
int launch_read_policy(struct launch *l, struct launch_policy *room, struct text *reterr);

/** Check what only the settings as a whole show, and take how much is to be said from them.
 *  Returns 0, or a negative error with reterr. */
int launch_check(struct launch *l, struct text *reterr);

/** Read the peak file if the settings name one and soft = peak wants it, decide, and set the limit on this
 * process. A peak file that can't be used is a text in *warning, not an error. Returns 0, PLAN_NO_TARGET
 * (then the plan is what is inherited), or a negative error with reterr. */
int launch_limit(struct launch *l, struct text *warning, struct text *reterr);

/** Load the lock that the settings ask for (deny or pretend) in this process, after the limit was set. *line
 * gets what a person should know, or stays empty. Returns 0, or a negative error with reterr. */
int launch_lock(const struct launch *l, struct text *line, struct text *reterr);

/** The text setting of a key, or NULL. */
const char *launch_text(const struct launch *l, enum key_id id);

/** True when a yes/no setting is "yes". */
bool launch_flag(const struct launch *l, enum key_id id);

#endif
