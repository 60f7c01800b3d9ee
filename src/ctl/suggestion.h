/* A suggested limit with its reasons, and the words of those who can set it. */
#ifndef FDFIT_CTL_SUGGESTION_H
#define FDFIT_CTL_SUGGESTION_H

#include "policy/plan.h"

#include <stdio.h>

struct suggestion {
    const struct settings *settings; /* what was decided by; what was asked for has the origin ORIGIN_ARG */
    struct plan plan;
    uint64_t floor; /* to be written into a policy, so that it decides as this plan did; 0: the default */
    const char *reasons; /* lines, each ended by '\n' */
    pid_t pid;           /* the one process it is about, or 0 */
};

/** How a suggestion is written. */
struct suggestion_format {
    const char *name;
    bool comments; /* the reasons are written into it; else they have to be said apart */
    void (*write)(const struct suggestion *s, FILE *file);
};

/** Find a format by its name, or NULL. */
const struct suggestion_format *suggestion_format_find(const char *name);

/** Append the names: "policy, systemd, ...". */
void suggestion_format_names(struct text *t);

#endif
