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

struct metric {
    const char *name, *type, *help;
};

static void put_metric(const struct prometheus_report *report, const struct metric *m, uint64_t value,
                       struct text *t)
{
    text_join(t, "# HELP ", m->name, " ", m->help, "\n# TYPE ", m->name, " ", m->type, "\n", m->name,
              "{workload=\"", NULL);
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

static void put_start(const struct prometheus_report *report, struct text *t)
{
    static const struct metric soft = {"fdfit_nofile_soft", "gauge",
                                       "Soft limit of open files that the workload was started under."},
                               hard = {"fdfit_nofile_hard", "gauge",
                                       "Hard limit of open files that the workload was started under."},
                               inherited = {"fdfit_nofile_inherited_soft", "gauge",
                                            "Soft limit of open files that fdfit was started with."},
                               start = {"fdfit_start_time_seconds", "gauge",
                                        "When the workload was started, in seconds since 1970."},
                               reaped = {"fdfit_reaped_processes_total", "counter",
                                         "Orphans that fdfit has waited for."},
                               refusals = {"fdfit_lock_refusals_total", "counter",
                                           "Attempts to raise the limit that the lock refused."};

    put_metric(report, &soft, report->soft, t);
    put_metric(report, &hard, report->hard, t);
    put_metric(report, &inherited, report->inherited_soft, t);
    put_metric(report, &start, report->start_time, t);
    put_metric(report, &reaped, report->reaped, t);
    if (report->has_lock)
        put_metric(report, &refusals, report->lock_refusals, t);
}

static void put_peak(const struct prometheus_report *report, struct text *t)
{
    static const struct metric
        need = {"fdfit_descriptors_peak", "gauge",
                "Highest descriptor number + 1 seen in one process: the least soft limit that was enough."},
        bound = {"fdfit_descriptors_bound", "gauge",
                 "Size of the largest descriptor table seen (FDSize): no sampled process ever had a higher "
                 "number."},
        current = {"fdfit_descriptors_highest", "gauge",
                   "Highest descriptor number + 1 open in one process at the last sample."},
        open = {"fdfit_descriptors_open", "gauge",
                "Descriptors open in the process that has most of them, at the last sample."},
        processes = {"fdfit_processes", "gauge", "Processes of the workload at the last sample."},
        seen = {"fdfit_processes_seen_total", "counter", "Processes of the workload that a sample has met."},
        samples = {"fdfit_samples_total", "counter", "Samples taken."},
        at_limit = {"fdfit_processes_at_limit_total", "counter",
                    "Processes that had as many descriptors open as their soft limit allows."};

    put_metric(report, &need, report->peak->need, t);
    put_metric(report, &bound, report->peak->bound, t);
    put_metric(report, &current, report->current, t);
    put_metric(report, &open, report->peak->open, t);
    put_metric(report, &processes, report->peak->processes, t);
    put_metric(report, &seen, report->peak->seen, t);
    put_metric(report, &samples, report->peak->samples, t);
    put_metric(report, &at_limit, report->peak->at_limit, t);
}

void prometheus_format(const struct prometheus_report *report, struct text *ret)
{
    put_start(report, ret);
    if (report->peak)
        put_peak(report, ret);
}

void prometheus_workload(const char *file_name, struct text *ret)
{
    static const char ending[] = ".prom";
    size_t n = strlen(file_name), e = strlen(ending);

    text_bytes(ret, file_name, n > e && strcmp(file_name + n - e, ending) == 0 ? n - e : n);
}
