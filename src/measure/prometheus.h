/* The report: Prometheus' text format 0.0.4 for the textfile collector of node_exporter. */
#ifndef FDFIT_MEASURE_PROMETHEUS_H
#define FDFIT_MEASURE_PROMETHEUS_H

#include "base/text.h"
#include "measure/peak.h"

#include <stdbool.h>

/** More than the longest report (names and labels of bad bytes, each shown as three). */
#define PROMETHEUS_MAX_BYTES (20 * 1024)

struct prometheus_report {
    const char *workload;                /* tells the files of one folder apart: prometheus_workload() */
    const char *label;                   /* of the peak file's line */
    uint64_t soft, hard, inherited_soft; /* UINT64_MAX: unlimited, shown as +Inf */
    const struct peak_result *peak;      /* NULL: nothing is measured, and its metrics are left out */
    uint64_t current;                    /* peak_meter_current; with peak only */
    uint64_t reaped;
    bool has_lock;
    uint64_t lock_refusals; /* with has_lock only */
    uint64_t start_time;    /* seconds since 1970 */
};

/** Append the report. Label values may be any bytes: what is not UTF-8 is shown as U+FFFD, since one bad byte
 * makes a collector drop the whole file. A text that was cut off (ret->len == ret->cap - 1) is of no use. */
void prometheus_format(const struct prometheus_report *report, struct text *ret);

/** The workload's name from the report's file name: NAME.prom without its ending. Appends to ret. */
void prometheus_workload(const char *file_name, struct text *ret);

#endif
