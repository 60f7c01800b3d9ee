/* The supervisor's measuring: the peak of the workload, its record in the peak file, and the report. Nothing
 * here ends the supervisor or makes it wait: what can't be read or written is a warning, said once. */
#ifndef FDFIT_LAUNCHER_INIT_WATCH_H
#define FDFIT_LAUNCHER_INIT_WATCH_H

#include "launcher/launch.h"
#include "measure/peak.h"
#include "measure/place.h"

/** What else the report shows. */
struct watch_counts {
    uint64_t reaped;
    bool has_lock;
    uint64_t lock_refusals; /* calls that lock = clamp cut or refused; deny and pretend can't be counted */
};

struct watch {
    const struct launch *l;
    struct peak_meter meter;
    struct place peak_file;    /* folder -1: none */
    struct place report;       /* the same */
    int proc;                  /* -1: nothing is measured */
    uint64_t started;          /* milliseconds, as `now` */
    uint64_t write_due;        /* of the peak file, the same */
    uint64_t report_due;       /* the same */
    uint64_t recorded_seconds; /* of observed time, in the file */
    uint64_t recorded_need;    /* as last written */
    uint64_t recorded_bound;
    uint64_t recorded_at; /* when that was */
    uint64_t highest;     /* number + 1, the last that a report found open */
    bool has_recorded;    /* since this start */
    bool said_widened;
    bool said_busy, said_peak_file, said_report; /* each failure once */
};

/** Begin, for the plan in l and the descendants of this process, when a peak file is to be recorded or a
 * report to be written; else the watch is idle. Opens the folders by the present working folder. now:
 * milliseconds, monotonic. */
void watch_begin(struct watch *w, const struct launch *l, uint64_t now);

/** When watch_turn is to be called next, or UINT64_MAX: never. */
uint64_t watch_due(const struct watch *w);

/** Take a sample, record, report: whatever is due. */
void watch_turn(struct watch *w, const struct watch_counts *counts, uint64_t now);

/** Record and report a last time, and close what is open. */
void watch_end(struct watch *w, const struct watch_counts *counts, uint64_t now);

/** Append "; peak 127 (python2), tables up to 128" for people; nothing when nothing was measured. */
void watch_format(const struct watch *w, struct text *t);

#endif
