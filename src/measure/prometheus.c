#include "measure/prometheus.h"

#include "base/num.h"

#include <string.h>

/* ---- label values ---- */

/* The length of the well-formed UTF-8 sequence at s (RFC 3629: no overlong form, no surrogate, at most
 * U+10FFFF), or 0. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) /* the string's NUL ends the look, too */
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void put_value(const char *value, struct text *t)
{
    const unsigned char *s = (const unsigned char *)value;

    while (*s) {
        size_t n = utf8_length(s);

        if (n == 0)
            text_str(t, "\xef\xbf\xbd"); /* U+FFFD */
        else if (*s == '\\' || *s == '"')
            text_join(t, "\\", *s == '"' ? "\"" : "\\", NULL);
        else if (*s == '\n')
            text_str(t, "\\n");
        else
            text_bytes(t, (const char *)s, n);
        s += n ? n : 1;
    }
}

/* ---- metrics ---- */

/* Where the number of a metric stands. */
enum source { START, LOCK, HIGHEST, PEAK };

struct metric {
    const char *name; /* without the prefix */
    const char *type;
    const char *help;
    enum source source;
    uint32_t offset; /* of PEAK in struct peak_result, of the others in struct prometheus_report */
};

#define REPORT(field) offsetof(struct prometheus_report, field)
#define RESULT(field) offsetof(struct peak_result, field)

static const struct metric metrics[] = {
    {"nofile_soft", "gauge", "Soft limit of open files that the workload was started under.", START,
     REPORT(soft)},
    {"nofile_hard", "gauge", "Hard limit of open files that the workload was started under.", START,
     REPORT(hard)},
    {"nofile_inherited_soft", "gauge", "Soft limit of open files that fdfit was started with.", START,
     REPORT(inherited_soft)},
    {"start_time_seconds", "gauge", "When the workload was started, in seconds since 1970.", START,
     REPORT(start_time)},
    {"reaped_processes_total", "counter", "Orphans that fdfit has waited for.", START, REPORT(reaped)},
    {"lock_refusals_total", "counter", "Attempts to raise the limit that the lock refused.", LOCK,
     REPORT(lock_refusals)},
    {"descriptors_peak", "gauge",
     "Highest descriptor number + 1 seen in one process: the least soft limit that was enough.", PEAK,
     RESULT(need)},
    {"descriptors_bound", "gauge",
     "Size of the largest descriptor table seen (FDSize): no sampled process ever had a higher number.", PEAK,
     RESULT(bound)},
    {"descriptors_highest", "gauge", "Highest descriptor number + 1 open in one process at the last sample.",
     HIGHEST, REPORT(current)},
    {"descriptors_open", "gauge",
     "Descriptors open in the process that has most of them, at the last sample.", PEAK, RESULT(open)},
    {"processes", "gauge", "Processes of the workload at the last sample.", PEAK, RESULT(processes)},
    {"processes_seen_total", "counter", "Processes of the workload that a sample has met.", PEAK,
     RESULT(seen)},
    {"samples_total", "counter", "Samples taken.", PEAK, RESULT(samples)},
    {"processes_at_limit_total", "counter",
     "Processes that had as many descriptors open as their soft limit allows.", PEAK, RESULT(at_limit)},
};

/* The number of a metric, or NULL when the report has none. */
static const uint64_t *number_of(const struct prometheus_report *report, const struct metric *m)
{
    const void *from = m->source == PEAK ? (const void *)report->peak : report;

    if ((m->source == LOCK && !report->has_lock) || (m->source >= HIGHEST && !report->peak))
        return NULL;
    return (const uint64_t *)(const void *)((const char *)from + m->offset);
}

static void put_metric(const struct prometheus_report *report, const struct metric *m, uint64_t value,
                       struct text *t)
{
    static const char prefix[] = "fdfit_";

    text_join(t, "# HELP ", prefix, m->name, " ", m->help, "\n# TYPE ", prefix, m->name, " ", m->type, "\n",
              prefix, m->name, "{workload=\"", NULL);
    put_value(report->workload, t);
    text_str(t, "\",label=\"");
    put_value(report->label, t);
    text_str(t, "\"} ");
    if (value == UINT64_MAX)
        text_str(t, "+Inf");
    else
        text_u64(t, value);
    text_char(t, '\n');
}

void prometheus_format(const struct prometheus_report *report, struct text *ret)
{
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        const uint64_t *number = number_of(report, &metrics[i]);

        if (number)
            put_metric(report, &metrics[i], *number, ret);
    }
}

void prometheus_workload(const char *file_name, struct text *ret)
{
    static const char ending[] = ".prom";
    size_t n = strlen(file_name), e = strlen(ending);

    text_bytes(ret, file_name, n > e && strcmp(file_name + n - e, ending) == 0 ? n - e : n);
}
