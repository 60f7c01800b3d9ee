#include "launcher/init/watch.h"

#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/sys.h"
#include "measure/peakfile.h"
#include "measure/prometheus.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MINUTE       60000
#define REPORT_EVERY 15000         /* what scrapes a text file does so about as often */
#define TIME_EVERY   (10 * MINUTE) /* the observed time alone is not worth a write each minute */

static uint64_t seconds_since_1970(void)
{
    return sys_clock(CLOCK_REALTIME) / 1000000000;
}

static void say(const struct watch *w, enum msg_level level, const struct text *line)
{
    msg_try(level, w->l->most, line->at);
}

static void say_failure(const struct watch *w, bool *said, enum key_id id, const char *why)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    if (*said)
        return;
    *said = true;
    text_join(&line, key_row(id)->name, " ", launch_text(w->l, id), " ", why, NULL);
    say(w, MSG_WARNING, &line);
}

/* "python (pid 17) stands at 250 of 256 descriptors; see headroom" */
static void on_event(const struct peak_event *event, void *data)
{
    const struct watch *w = data;
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    text_escaped(&line, event->name.comm, strlen(event->name.comm));
    text_number(&line, " (pid ", (uint64_t)event->pid);
    text_number(&line, event->kind == PEAK_AT_LIMIT ? ") reached its limit: " : ") stands at ", event->open);
    text_number(&line, " of ", event->soft);
    text_str(&line, " descriptors; see headroom");
    say(w, MSG_INFO, &line);
}

static void open_place(struct watch *w, enum key_id id, struct place *place, bool *said)
{
    const char *path = launch_text(w->l, id);
    char buffer[TEXT_LINE];
    TEXT_ON(why, buffer);

    if (path && place_open(path, place, &why) < 0) {
        place->folder = -1;
        say_failure(w, said, id, why.at);
    }
}

static bool begin_meter(struct watch *w, uint64_t now)
{
    const struct settings *s = &w->l->settings;
    struct peak_config config = {
        .proc = w->proc,
        .root = getpid(),
        .interval = s->value[KEY_SAMPLE].number,
        .soft = w->l->plan.limit.soft,
        .warn_at = (unsigned)s->value[KEY_WARN_AT].number,
        .notify = on_event,
        .data = w,
    };
    /* Zeroed, and of it only the pages that are used count: the supervisor of a few processes stays small. */
    void *memory = mmap(NULL, PEAK_ENTRIES * sizeof(struct peak_entry), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory != MAP_FAILED && peak_meter_init(&w->meter, &config, memory, PEAK_ENTRIES) == 0;
}

static bool records(const struct launch *l)
{
    return launch_text(l, KEY_PEAK_FILE) && !value_is(&l->settings.value[KEY_RECORD], WORD_NO);
}

void watch_begin(struct watch *w, const struct launch *l, uint64_t now)
{
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    memset(w, 0, sizeof(*w));
    w->l = l;
    w->peak_file.folder = w->report.folder = w->proc = -1;
    w->started = w->recorded_at = now;
    if (!records(l) && !launch_text(l, KEY_REPORT))
        return;
    if (records(l))
        open_place(w, KEY_PEAK_FILE, &w->peak_file, &w->said_peak_file);
    open_place(w, KEY_REPORT, &w->report, &w->said_report);
    w->proc = fd_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);
    w->write_due = now + MINUTE;
    w->report_due = now;
    if (w->proc >= 0 && begin_meter(w, now))
        return;
    w->proc = fd_close(w->proc);
    text_str(&line, "nothing is measured: /proc can't be opened, or memory is out");
    say(w, MSG_WARNING, &line);
}

static uint64_t due_of(const struct place *place, uint64_t due)
{
    return place->folder >= 0 ? due : UINT64_MAX;
}

uint64_t watch_due(const struct watch *w)
{
    if (w->proc < 0)
        return UINT64_MAX;
    return num_min(w->meter.due,
                   num_min(due_of(&w->peak_file, w->write_due), due_of(&w->report, w->report_due)));
}

static void fill_record(const struct watch *w, uint64_t now, struct peak_record *record)
{
    const struct peak_result *result = &w->meter.result;
    const char *label = launch_text(w->l, KEY_LABEL);
    struct text t;

    memset(record, 0, sizeof(*record));
    text_init(&t, record->label, sizeof(record->label));
    text_str(&t, label ? label : "default");
    text_init(&t, record->by, sizeof(record->by));
    text_str(&t, result->need_by.comm);
    record->need = result->need;
    record->bound = result->bound;
    record->observed = result->span / 1000 - w->recorded_seconds;
    record->at = seconds_since_1970() - (now - result->need_at) / 1000;
}

/* The record is worth a write when it grew, and seldom for the observed time alone. */
static bool has_news(const struct watch *w, uint64_t now)
{
    const struct peak_result *result = &w->meter.result;

    return result->need > w->recorded_need || result->bound > w->recorded_bound ||
           now - w->recorded_at >= TIME_EVERY;
}

static void write_record(struct watch *w, uint64_t now)
{
    const struct peak_result *result = &w->meter.result;
    bool reset = value_is(&w->l->settings.value[KEY_RECORD], WORD_RESET) && !w->has_recorded;
    struct peak_record record;
    char buffer[TEXT_LINE];
    TEXT_ON(why, buffer);
    int r;

    if (w->peak_file.folder < 0 || result->need == 0)
        return;
    fill_record(w, now, &record);
    r = peakfile_update(&w->peak_file, &record, reset, &why);
    if (r != 0) {
        say_failure(w, r == PEAKFILE_BUSY ? &w->said_busy : &w->said_peak_file, KEY_PEAK_FILE,
                    r == PEAKFILE_BUSY   ? "is being written by another; trying again"
                    : r == PEAKFILE_FULL ? "has no room for another label"
                                         : why.at);
        return;
    }
    w->has_recorded = true;
    w->recorded_seconds = result->span / 1000;
    w->recorded_need = result->need;
    w->recorded_bound = result->bound;
    w->recorded_at = now;
}

static void write_report(struct watch *w, const struct watch_counts *counts, uint64_t now)
{
    const char *label = launch_text(w->l, KEY_LABEL);
    char bytes[PROMETHEUS_MAX_BYTES], name[NAME_MAX + 1], reason[TEXT_LINE];
    TEXT_ON(text, bytes);
    TEXT_ON(workload, name);
    TEXT_ON(why, reason);
    struct prometheus_report report;
    uint64_t current;

    if (w->report.folder < 0)
        return;
    /* At the end nobody is left to look at: the last report then shows what the one before found. */
    current = peak_meter_current(&w->meter, now);
    w->highest = current ? current : w->highest;
    report = (struct prometheus_report){
        .workload = name,
        .label = label ? label : "default",
        .soft = w->l->plan.limit.soft,
        .hard = w->l->plan.limit.hard,
        .inherited_soft = w->l->plan.inherited.soft,
        .peak = &w->meter.result,
        .current = w->highest,
        .reaped = counts->reaped,
        .has_lock = counts->has_lock,
        .lock_refusals = counts->lock_refusals,
        .start_time = seconds_since_1970() - (now - w->started) / 1000,
    };

    prometheus_workload(w->report.name, &workload);
    prometheus_format(&report, &text);
    if (place_write(&w->report, text.at, text.len, &why) < 0)
        say_failure(w, &w->said_report, KEY_REPORT, why.at);
}

static void say_widened(struct watch *w)
{
    const struct peak_result *result = &w->meter.result;
    char buffer[TEXT_LINE];
    TEXT_ON(line, buffer);

    /* The first sample looks at every process, and is no measure of the others. */
    if (result->widened < 3 || w->said_widened)
        return;
    w->said_widened = true;
    text_number(&line, "sampling ", result->processes);
    text_str(&line, " processes costs more than a hundredth of a core: now every ");
    text_duration(&line, result->interval);
    say(w, MSG_WARNING, &line);
}

void watch_turn(struct watch *w, const struct watch_counts *counts, uint64_t now)
{
    if (w->proc < 0)
        return;
    if (now >= w->meter.due) {
        peak_meter_tick(&w->meter, now);
        say_widened(w);
    }
    if (now >= w->write_due) {
        w->write_due = now + MINUTE;
        if (has_news(w, now))
            write_record(w, now);
    }
    if (now >= w->report_due) {
        w->report_due = now + REPORT_EVERY;
        write_report(w, counts, now);
    }
}

void watch_end(struct watch *w, const struct watch_counts *counts, uint64_t now)
{
    if (w->proc >= 0) {
        write_record(w, now);
        write_report(w, counts, now);
    }
    place_close(&w->peak_file);
    place_close(&w->report);
    w->proc = fd_close(w->proc);
}

void watch_format(const struct watch *w, struct text *t)
{
    const struct peak_result *result = &w->meter.result;

    if (result->samples == 0)
        return;
    text_number(t, "; peak ", result->need);
    text_str(t, " (");
    text_escaped(t, result->need_by.comm, strlen(result->need_by.comm));
    text_number(t, "), tables up to ", result->bound);
}
