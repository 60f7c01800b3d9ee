/* The peak of a workload: the highest descriptor number that any one of its processes had open, found by
 * samples that cost at most a hundredth of one core.
 *
 * A sample (tick) reads the count and FDSize of every process (of more than 256, FDSize in turns). The
 * highest number is looked for only when a process is new, has entered a new class of FDSize, or has more
 * open than ever before. FDSize never shrinks, so a burst between two samples still shows in `bound`. What no
 * sample sees is a process that lives and dies between two of them.
 *
 *     struct peak_meter m;
 *     peak_meter_init(&m, &config, memory, PEAK_ENTRIES);
 *     each time now >= m.due:   peak_meter_tick(&m, now);  then wait until m.due
 *     at any time:              m.result
 */
#ifndef FDFIT_MEASURE_PEAK_H
#define FDFIT_MEASURE_PEAK_H

#include "measure/process.h"

/** What is remembered of one process; only peak.c looks inside. */
struct peak_entry {
    uint64_t start; /* clock ticks since boot */
    uint64_t inode; /* of /proc/PID/fd */
    uint64_t soft;
    uint32_t tick; /* in which it was last seen; 0 in an unused entry */
    uint32_t size; /* the largest FDSize */
    uint32_t open; /* the count of the last tick */
    uint32_t most; /* the largest count */
    pid_t pid;
    pid_t parent;
    uint16_t threads;
    uint16_t flags;
};

/** No sample comes sooner after the last. */
#define PEAK_INTERVAL_LEAST 100

/** A fitting number of entries: for 7/8 as many processes at a time, in 256 KiB at most. */
#define PEAK_ENTRIES 4096

enum peak_event_kind {
    PEAK_NEAR_LIMIT, /* the count has reached warn_at percent of soft; once a process */
    PEAK_AT_LIMIT,   /* the count has reached soft: the next open(2) fails with EMFILE; once a process */
};

struct peak_event {
    enum peak_event_kind kind;
    pid_t pid;
    struct process_name name; /* bytes of the process's own choice: escape them */
    uint64_t open;
    uint64_t soft;
};

struct peak_config {
    int proc;          /* an open /proc, borrowed */
    pid_t root;        /* whose descendants are measured: own pid; 0: only what peak_meter_add gets */
    uint64_t interval; /* milliseconds from tick to tick; less than PEAK_INTERVAL_LEAST is taken for that */
    uint64_t soft;     /* taken for a process whose limits can't be read; UINT64_MAX: none */
    unsigned warn_at;  /* percent of soft; 0: no PEAK_NEAR_LIMIT */
    void (*notify)(const struct peak_event *event, void *data); /* called from a tick; may be NULL */
    void *data;
};

/** What has been measured since peak_meter_init. Times in milliseconds of the caller's clock. */
struct peak_result {
    uint64_t need;    /* the peak: highest number + 1 seen in one process; 0: nothing seen yet */
    uint64_t bound;   /* the largest FDSize: no table of a living process was ever larger */
    uint64_t need_at; /* when the need was first seen */
    pid_t need_pid;   /* and in which process */
    struct process_name need_by;
    uint64_t samples;
    uint64_t span;     /* from the first sample to the last */
    uint64_t seen;     /* processes that a sample has met, ever */
    uint64_t at_limit; /* processes that stood at their limit, ever */

    /* The last sample alone: */
    uint64_t processes; /* alive in it, zombies left out */
    uint64_t open;      /* the largest count of one process */
    pid_t open_pid;     /* and whose it is */
    uint64_t denied;    /* processes whose highest number may not be read: `need` takes their count for it */
    uint64_t untracked; /* processes that found no entry in the table: measured, but without a memory, so they
                         * are not in `seen` and give no events */

    uint32_t sizes_every; /* in so many ticks FDSize is read once of each process: 1 for up to 256 of them */
    uint64_t interval;    /* milliseconds to the next sample: widened to 100 times what the last one cost */
    uint64_t widened;     /* samples in a row after which the interval was widened */
};

struct peak_meter {
    struct peak_config config;
    struct peak_result result;
    uint64_t due; /* when the next tick is to be */

    struct peak_entry *entry; /* borrowed */
    uint32_t entries;         /* a power of two */
    uint32_t used;
    uint32_t met; /* of those, in this tick */
    uint32_t tick;
    uint64_t began;   /* of the first tick */
    uint64_t cpu;     /* nanoseconds of the thread's CPU time at the tick's begin */
    uint64_t carried; /* what peak_meter_current cost since then */
    uint64_t now;
};

/** Begin. `memory` is of `entries` entries (a power of two, 16 to 65536), all bytes zero, owned by the
 * caller, in use as long as the meter. Returns 0 or -EINVAL. */
int peak_meter_init(struct peak_meter *m, const struct peak_config *config, struct peak_entry *memory,
                    uint32_t entries);

/** Take a sample of config.root's descendants. Returns 0, or -errno when they can't be listed (no /proc); the
 * sample is then empty, and m->due is set all the same. */
int peak_meter_tick(struct peak_meter *m, uint64_t now);

/** The same in three steps, for a caller that finds the processes itself (or adds some): begin, add each,
 * end. A pid added twice in one sample is taken once. */
void peak_meter_begin(struct peak_meter *m, uint64_t now);
void peak_meter_add(struct peak_meter *m, pid_t pid);
void peak_meter_end(struct peak_meter *m);

/** The highest number + 1 that is open now in one of the processes of the last sample; 0 when none may be
 * read. Costs more than a tick's reading (an open and a probe of every process whose table could hold a
 * higher number), so it is for reports, not for every tick. What it finds also counts for the peak. */
uint64_t peak_meter_current(struct peak_meter *m, uint64_t now);

#endif
