#include "ctl/measured.h"

#include "base/err.h"
#include "base/num.h"
#include "measure/peakfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void measured_finish(struct measured *m, struct peak_meter *meter, uint64_t now, uint64_t clock)
{
    m->current = peak_meter_current(meter, now);
    m->result = meter->result;
    m->need = m->denied ? num_max(m->result.need, m->result.bound) : m->result.need;
    m->at = clock - (now - m->result.need_at) / 1000;
}

#define TRIES     100 /* in all as long as a person waits */
#define TRY_AFTER 50  /* milliseconds */

int measured_write(const struct measured *m, const struct place *place, const char *path, const char *label,
                   struct text *reterr)
{
    struct peak_record record = {
        .need = m->need,
        .bound = m->result.bound,
        .observed = m->result.span / 1000,
        .at = m->at,
        .measured = true,
    };
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);
    int r = PEAKFILE_BUSY;

    snprintf(record.label, sizeof(record.label), "%s", label);
    snprintf(record.by, sizeof(record.by), "%s", m->result.need_by.comm);
    for (int i = 0; i < TRIES && r == PEAKFILE_BUSY; i++) {
        if (i > 0)
            nanosleep(&(struct timespec){.tv_nsec = TRY_AFTER * 1000000L}, NULL);
        r = peakfile_update(place, &record, false, &why);
    }
    if (r == 0)
        return 0;
    text_str(reterr, "peak file ");
    text_escaped(reterr, path, strlen(path));
    if (r < 0)
        text_join(reterr, " ", why.at, NULL);
    else
        text_str(reterr, r == PEAKFILE_BUSY ? " is locked by another writer; measure again later"
                                            : " has 32 other labels; use one of them, or another file");
    text_str(reterr, " (measured: need ");
    text_u64(reterr, m->need);
    text_str(reterr, ")");
    return r < 0 ? r : -EBUSY;
}

/* ---- the processes that are there at the end ---- */

#define SHOWN_NOT (-1)
#define SHOWN_BEGUN                                                                                          \
    (-2) /* its ancestors are being shown; numbers that were used anew could make a circle                   \
          */

struct row {
    pid_t pid, parent;
    char comm[4 * PROCESS_COMM + 4]; /* escaped */
    struct process_tables tables;
    struct nofile limit;
    bool known, limit_known;
    int shown_as; /* the table's row, or negative */
};

struct rows {
    struct targets *targets;
    struct row *row; /* owned */
    size_t count, room;
    bool failed;
};

static void escape_comm(const char *comm, char *ret, size_t size)
{
    struct text text;

    text_init(&text, ret, size);
    text_escaped(&text, comm, strnlen(comm, PROCESS_COMM));
}

static struct row *new_row(struct rows *rows)
{
    if (rows->count == rows->room) {
        size_t room = rows->room ? 2 * rows->room : 64;
        struct row *grown = reallocarray(rows->row, room, sizeof(*grown));

        if (!grown) {
            rows->failed = true;
            return NULL;
        }
        rows->row = grown;
        rows->room = room;
    }
    memset(&rows->row[rows->count], 0, sizeof(rows->row[0]));
    return &rows->row[rows->count];
}

static struct row *find_row(struct rows *rows, pid_t pid)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].pid == pid)
            return &rows->row[i];
    return NULL;
}

static void collect(pid_t pid, void *data)
{
    struct rows *rows = data;
    int proc = rows->targets->proc;
    struct process_status status;
    struct process_name name;
    struct row *row;
    int r;

    if (find_row(rows, pid))
        return;
    row = new_row(rows);
    if (!row || process_status(proc, pid, &status) != 0 || process_name(proc, pid, &name) != 0)
        return;
    r = process_measure(proc, pid, &row->tables);
    if (r != 0 && r != PROCESS_DENIED)
        return; /* it has ended meanwhile */
    row->known = r == 0;
    row->pid = pid;
    row->parent = status.parent;
    row->shown_as = SHOWN_NOT;
    row->limit_known = target_limits(proc, pid, &row->limit) == 0;
    escape_comm(name.comm, row->comm, sizeof(row->comm));
    rows->count++;
}

static int collect_rows(struct rows *rows, struct targets *targets)
{
    char ignored[TEXT_LINE];
    TEXT_ON(why, ignored);
    size_t count;

    *rows = (struct rows){.targets = targets};
    targets_each(targets, collect, rows, &count, &why);
    return rows->failed ? -ENOMEM : 0;
}

static bool row_at_limit(const struct row *row)
{
    return row->known && row->limit_known && row->tables.open >= row->limit.soft;
}

/* ---- tables ---- */

/* One cell: a number, "unlimited", or "?" for what may not be read. */
static const char *cell(char *buffer, size_t size, bool known, uint64_t value)
{
    if (!known)
        snprintf(buffer, size, "?");
    else if (value == UINT64_MAX)
        snprintf(buffer, size, "unlimited");
    else
        snprintf(buffer, size, "%llu", (unsigned long long)value);
    return buffer;
}

/* In a tree a row needs its parent's to be there. */
static void print_row(struct out_table *table, struct rows *rows, struct row *row)
{
    struct row *parent = rows->targets->tree ? find_row(rows, row->parent) : NULL;
    char text[6][32];

    if (row->shown_as != SHOWN_NOT)
        return;
    row->shown_as = SHOWN_BEGUN;
    if (parent)
        print_row(table, rows, parent);
    const char *const cells[] = {
        row->comm,
        cell(text[0], sizeof(text[0]), true, (uint64_t)row->pid),
        cell(text[1], sizeof(text[1]), row->known && row->tables.exact, row->tables.need),
        cell(text[2], sizeof(text[2]), row->known, row->tables.open),
        cell(text[3], sizeof(text[3]), row->known, row->tables.size),
        cell(text[4], sizeof(text[4]), row->limit_known, row->limit.soft),
        cell(text[5], sizeof(text[5]), row->limit_known, row->limit.hard),
    };
    row->shown_as = out_table_row(table, parent ? parent->shown_as : -1, row_at_limit(row), cells);
}

static void print_processes(struct rows *rows, struct out *out)
{
    const struct out_column columns[] = {
        {"COMMAND", false, rows->targets->tree},
        {"PID", true, false},
        {"NEED", true, false},
        {"OPEN", true, false},
        {"FDSIZE", true, false},
        {"SOFT", true, false},
        {"HARD", true, false},
        {0},
    };
    struct out_table *table = out_table_new(out, columns);

    for (size_t i = 0; i < rows->count; i++)
        print_row(table, rows, &rows->row[i]);
    out_table_print(table);
}

static void print_peak(const struct measured *m, struct out *out)
{
    static const struct out_column columns[] = {
        {"PEAK", true, false},    {"BOUND", true, false},
        {"CURRENT", true, false}, {"PROCESSES", true, false},
        {"SEEN", true, false},    {"SAMPLES", true, false},
        {"TIME", true, false},    {"AT-LIMIT", true, false},
        {"BY", false, false},     {0},
    };
    struct out_table *table = out_table_new(out, columns);
    const struct peak_result *r = &m->result;
    char text[8][32], comm[4 * PROCESS_COMM + 4], by[128];
    TEXT_ON(span, text[7]);

    text_duration(&span, r->span < 1000 ? r->span : r->span / 1000 * 1000);
    escape_comm(r->need_by.comm, comm, sizeof(comm));
    snprintf(by, sizeof(by), "%s (pid %d)", comm, (int)r->need_pid);
    const char *const cells[] = {
        cell(text[0], sizeof(text[0]), !m->denied, m->need),
        cell(text[1], sizeof(text[1]), true, r->bound),
        cell(text[2], sizeof(text[2]), !m->denied, m->current),
        cell(text[3], sizeof(text[3]), true, r->processes),
        cell(text[4], sizeof(text[4]), true, r->seen),
        cell(text[5], sizeof(text[5]), true, r->samples),
        span.at,
        cell(text[6], sizeof(text[6]), true, r->at_limit),
        by,
    };
    out_table_row(table, -1, r->at_limit > 0, cells);
    out_table_print(table);
}

static void print_notes(const struct measured *m, const struct measured_words *words, struct out *out)
{
    if (m->denied)
        out_note(out,
                 "the highest number of some processes may not be read (another user's); only the bound is "
                 "known, and %llu is taken for the need; run as root for the exact peak",
                 (unsigned long long)m->need);
    if (m->untracked)
        out_note(out,
                 "there were more processes at a time than can be remembered: SEEN and AT-LIMIT are too low");
    if (m->result.widened > 0)
        out_note(out, "samples came only each %llu ms, so that they cost no more than a hundredth of a core",
                 (unsigned long long)m->result.interval);
    if (words->peak_file) {
        char path[TEXT_LINE];
        TEXT_ON(shown, path);

        text_escaped(&shown, words->peak_file, strlen(words->peak_file));
        out_note(out, "written to %s as '%s'; next: fdfitctl suggest --peak-file=%s", shown.at, words->label,
                 shown.at);
    }
}

void measured_print(const struct measured *m, struct targets *targets, const struct measured_words *words,
                    struct out *out)
{
    struct rows rows;

    print_peak(m, out);
    if (collect_rows(&rows, targets) == 0 && rows.count > 0) {
        out_print(out, "\n");
        print_processes(&rows, out);
    }
    free(rows.row);
    print_notes(m, words, out);
}

/* ---- JSON ---- */

static json_t *row_json(const struct row *row)
{
    return json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "pid", (json_int_t)row->pid, "parent",
                     (json_int_t)row->parent, "command", row->comm, "need",
                     row->known && row->tables.exact ? out_json_u64(row->tables.need) : json_null(), "open",
                     row->known ? out_json_u64(row->tables.open) : json_null(), "fdsize",
                     row->known ? out_json_u64(row->tables.size) : json_null(), "soft",
                     row->limit_known ? out_json_limit(row->limit.soft) : json_null(), "hard",
                     row->limit_known ? out_json_limit(row->limit.hard) : json_null(), "at_limit",
                     (int)row_at_limit(row));
}

static json_t *rows_json(struct targets *targets)
{
    json_t *array = json_array();
    struct rows rows;

    if (collect_rows(&rows, targets) < 0) {
        json_decref(array);
        array = NULL;
    }
    for (size_t i = 0; array && i < rows.count; i++)
        if (json_array_append_new(array, row_json(&rows.row[i])) < 0) {
            json_decref(array);
            array = NULL;
        }
    free(rows.row);
    return array;
}

static json_t *by_json(const struct measured *m)
{
    const struct process_name *name = &m->result.need_by;
    char comm[4 * PROCESS_COMM + 4], argv0[4 * PROCESS_ARGV + 4];
    TEXT_ON(program, argv0);

    escape_comm(name->comm, comm, sizeof(comm));
    text_escaped(&program, name->argv0, strlen(name->argv0));
    return json_pack("{s:I, s:s, s:s}", "pid", (json_int_t)m->result.need_pid, "command", comm, "argv0",
                     argv0);
}

json_t *measured_json(const struct measured *m, struct targets *targets, const struct measured_words *words)
{
    static const char *const endings[] = {"", "time", "signal", "processes"};
    const struct peak_result *r = &m->result;
    json_t *json = json_pack(
        "{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:o, s:o}", "peak",
        out_json_u64(m->need), "exact", (int)!m->denied, "bound", out_json_u64(r->bound), "current",
        m->denied ? json_null() : out_json_u64(m->current), "processes", out_json_u64(r->processes), "seen",
        out_json_u64(r->seen), "samples", out_json_u64(r->samples), "span_ms", out_json_u64(r->span),
        "interval_ms", out_json_u64(r->interval), "at_limit", out_json_u64(r->at_limit), "untracked",
        (int)m->untracked, "ended_by", endings[m->ending], "by", by_json(m), "process", rows_json(targets));

    if (json && words->peak_file &&
        json_object_update_new(json, json_pack("{s:o, s:s}", "peak_file", out_json_text(words->peak_file),
                                               "label", words->label)) < 0) {
        json_decref(json);
        json = NULL;
    }
    return json;
}
