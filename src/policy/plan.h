/* The decision: what was asked for and what is there -> the pair to set, with its reasons, or one error.
 * Pure; the launcher and fdfitctl call the same function. */
#ifndef FDFIT_POLICY_PLAN_H
#define FDFIT_POLICY_PLAN_H

#include "policy/limit.h"
#include "policy/settings.h"

/** A peak that a peak file gave. Times in milliseconds. */
struct plan_peak {
    bool present;       /* the file held a record */
    bool counts;        /* one of its records was observed for as long as `settle` asks */
    uint64_t need;      /* the highest number seen in one process + 1 */
    uint64_t bound;     /* the largest FDSize seen, 0 if unknown */
    uint64_t remaining; /* until a record counts */
    uint64_t since;     /* when the need was recorded, seconds since 1970; 0 if unknown */
};

/** What is there. */
struct plan_in {
    struct nofile inherited;
    uint64_t nr_open;   /* fs.nr_open; 0: not read */
    bool raise_refused; /* the kernel has refused to raise the hard limit (no CAP_SYS_RESOURCE) */
    struct plan_peak recorded;
};

enum plan_soft { SOFT_GIVEN, SOFT_INHERITED, SOFT_UNLIMITED, SOFT_PEAK, SOFT_FALLBACK };

enum plan_bounded { BOUNDED_NOT, BOUNDED_FLOOR, BOUNDED_CEILING, BOUNDED_CLASS };

/** What was changed on the way, for the message. */
enum plan_note {
    NOTE_HARD_CLAMPED = 1,    /* when-denied = clamp: the hard limit may not be raised */
    NOTE_NR_OPEN_CLAMPED = 2, /* when-denied = clamp: above fs.nr_open */
    NOTE_NR_OPEN_CAPPED = 4,  /* the inherited hard limit was above fs.nr_open */
    NOTE_SOFT_CLAMPED = 8,    /* when-denied = clamp: soft was above hard */
    NOTE_PEAK_AT_CEILING =
        16 /* the recorded peak reaches the ceiling: a leak, or a ceiling that is too low */
};

struct plan {
    struct nofile inherited; /* as it was */
    struct nofile limit;     /* to be set; never soft > hard */
    enum plan_soft soft_from;
    enum plan_bounded bounded;
    unsigned notes; /* of enum plan_note */
    uint64_t peak;  /* by SOFT_PEAK: the need that was used */
    uint64_t bound; /* by BOUNDED_CLASS: the FDSize */
    uint64_t since; /* by SOFT_PEAK: when it was recorded, or 0 */
    struct value headroom;
    uint64_t floor, ceiling;
    uint64_t nr_open;
    struct plan_peak recorded;
};

#define PLAN_NEEDS_NR_OPEN 1 /* call again with in->nr_open read */
#define PLAN_NO_TARGET     2 /* neither soft nor hard was asked for */

/** Decide. Returns 0, PLAN_NEEDS_NR_OPEN, PLAN_NO_TARGET, or a negative error with reterr:
 *  -EINVAL (settings that contradict each other), -EPERM (a limit that can't be had). */
int plan_make(const struct settings *s, const struct plan_in *in, struct plan *ret, struct text *reterr);

/** True when the plan changes a limit. */
bool plan_changes(const struct plan *plan);

/** Append "nofile 20000:20000 -> 256:1024 (peak 127 + 50%, floor 256)". */
void plan_format(const struct plan *plan, struct text *t);

/** Append what a person should know about the plan beyond that line, or nothing. */
void plan_warning(const struct plan *plan, struct text *t);

#endif
