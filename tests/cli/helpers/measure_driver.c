/* measure_driver: the measuring library at the end of a pipe, for tests. Answers are lines of JSON.
 *
 *   measure_driver [--proc DIR] process PID...      one line each
 *   measure_driver [--proc DIR] tree ROOT           the pids below ROOT
 *   measure_driver [--proc DIR] meter ROOT [interval=MS] [soft=N] [warn=PERCENT] [entries=N]
 *       then, from stdin, a line each:  tick | current | begin | add PID | end
 *   measure_driver update FILE LABEL NEED BOUND OBSERVED [reset] [times=N]
 *       times: after the first, each update raises NEED by one; a line after each
 *   measure_driver write FILE BYTES                 replace FILE by so many bytes
 *   measure_driver report WORKLOAD LABEL SOFT       a report with made-up numbers, as it would be in the file
 */
#include "base/err.h"
#include "base/fd.h"
#include "measure/peak.h"
#include "measure/peakfile.h"
#include "measure/prometheus.h"
#include "measure/tree.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int proc_dir;

static uint64_t number(const char *text)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);

    if (end == text || *end)
        errx(2, "'%s' is not a number", text);
    return n;
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void put_string(const char *key, const char *value)
{
    printf("\"%s\": \"", key);
    for (; *value; value++)
        if (*value == '"' || *value == '\\' || (unsigned char)*value < 0x20 || (unsigned char)*value > 0x7e)
            printf("\\u%04x", (unsigned char)*value);
        else
            putchar(*value);
    putchar('"');
}

static void put_number(const char *key, uint64_t value)
{
    printf("\"%s\": %" PRIu64, key, value);
}

static void finish_line(void)
{
    puts("}");
    fflush(stdout);
}

static int do_process(char **pids)
{
    for (; *pids; pids++) {
        struct process_status status = {.size = 0};
        struct process_tables t = {.size = 0};
        pid_t pid = (pid_t)number(*pids);
        int s = process_status(proc_dir, pid, &status), r = process_measure(proc_dir, pid, &t);

        printf("{\"status\": %d, \"r\": %d, \"zombie\": %s, ", s, r, status.zombie ? "true" : "false");
        put_number("threads", status.threads);
        printf(", \"parent\": %d, ", (int)status.parent);
        put_number("size", t.size);
        printf(", ");
        put_number("open", t.open);
        printf(", ");
        put_number("need", t.need);
        printf(", \"exact\": %s, \"several\": %s", t.exact ? "true" : "false", t.several ? "true" : "false");
        finish_line();
    }
    return 0;
}

static int do_tree(pid_t root)
{
    static struct tree tree;
    int r = tree_list(proc_dir, root, &tree);

    printf("{\"r\": %d, \"pids\": [", r);
    for (size_t i = 0; i < tree.count; i++)
        printf("%s%d", i ? ", " : "", (int)tree.pid[i]);
    printf("]");
    finish_line();
    return 0;
}

static void on_event(const struct peak_event *event, void *data)
{
    printf("{\"event\": \"%s\", \"pid\": %d, ", event->kind == PEAK_AT_LIMIT ? "at" : "near",
           (int)event->pid);
    put_number("open", event->open);
    printf(", ");
    put_number("soft", event->soft);
    printf(", ");
    put_string("comm", event->name.comm);
    printf(", ");
    put_string("argv0", event->name.argv0);
    finish_line();
}

static void put_result(const struct peak_meter *m, int r)
{
    const struct peak_result *p = &m->result;
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"need", p->need},
        {"bound", p->bound},
        {"samples", p->samples},
        {"span", p->span},
        {"seen", p->seen},
        {"at_limit", p->at_limit},
        {"open", p->open},
        {"processes", p->processes},
        {"denied", p->denied},
        {"interval", p->interval},
        {"untracked", p->untracked},
        {"widened", p->widened},
        {"used", m->used},
        {"sizes_every", p->sizes_every},
        {"need_pid", (uint64_t)p->need_pid},
        {"open_pid", (uint64_t)p->open_pid},
    };

    printf("{\"r\": %d, ", r);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        put_number(numbers[i].name, numbers[i].value);
        printf(", ");
    }
    put_string("comm", p->need_by.comm);
    printf(", ");
    put_string("argv0", p->need_by.argv0);
    finish_line();
}

static void obey(struct peak_meter *m, const char *line)
{
    if (strcmp(line, "tick") == 0) {
        put_result(m, peak_meter_tick(m, now_ms()));
    } else if (strcmp(line, "current") == 0) {
        printf("{");
        put_number("current", peak_meter_current(m, now_ms()));
        finish_line();
    } else if (strcmp(line, "begin") == 0) {
        peak_meter_begin(m, now_ms());
    } else if (strncmp(line, "add ", 4) == 0) {
        peak_meter_add(m, (pid_t)number(line + 4));
    } else if (strcmp(line, "end") == 0) {
        peak_meter_end(m);
        put_result(m, 0);
    } else {
        errx(2, "'%s' is no command", line);
    }
}

static int do_meter(char **words)
{
    struct peak_config config = {.proc = proc_dir, .root = (pid_t)number(words[0]), .soft = UINT64_MAX};
    uint32_t entries = PEAK_ENTRIES;
    struct peak_entry *memory;
    struct peak_meter m;
    char line[64];

    config.notify = on_event;
    for (words++; *words; words++)
        if (strncmp(*words, "interval=", 9) == 0)
            config.interval = number(*words + 9);
        else if (strncmp(*words, "soft=", 5) == 0)
            config.soft = number(*words + 5);
        else if (strncmp(*words, "warn=", 5) == 0)
            config.warn_at = (unsigned)number(*words + 5);
        else if (strncmp(*words, "entries=", 8) == 0)
            entries = (uint32_t)number(*words + 8);
        else
            errx(2, "'%s' is no setting", *words);
    memory = calloc(entries, sizeof(*memory));
    if (!memory || peak_meter_init(&m, &config, memory, entries) < 0)
        errx(2, "can't begin");
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(&m, line);
    }
    free(memory);
    return 0;
}

static void put_outcome(int r, const char *error)
{
    printf("{\"r\": %d, ", r);
    put_string("error", error);
    finish_line();
}

static struct place open_place(const char *path)
{
    char buffer[TEXT_LINE];
    TEXT_ON(error, buffer);
    struct place place;
    int r = place_open(path, &place, &error);

    if (r == 0)
        return place;
    put_outcome(r, buffer);
    exit(0);
}

static int do_update(char **words)
{
    struct peak_record record = {.at = (uint64_t)time(NULL), .by = "driver"};
    struct place place = open_place(words[0]);
    uint64_t times = 1;
    bool reset = false;

    strncpy(record.label, words[1], PEAKFILE_LABEL);
    record.need = number(words[2]);
    record.bound = number(words[3]);
    record.observed = number(words[4]);
    for (words += 5; *words; words++)
        if (strcmp(*words, "reset") == 0)
            reset = true;
        else if (strncmp(*words, "times=", 6) == 0)
            times = number(*words + 6);
    for (; times > 0; times--, record.need++, reset = false) {
        char buffer[TEXT_LINE];
        TEXT_ON(error, buffer);
        int r = peakfile_update(&place, &record, reset, &error);

        put_outcome(r, buffer);
    }
    place_close(&place);
    return 0;
}

static int do_write(const char *path, uint64_t size)
{
    char buffer[TEXT_LINE];
    TEXT_ON(error, buffer);
    struct place place = open_place(path);
    char *bytes = malloc(size);
    int r;

    if (!bytes)
        errx(2, "no memory");
    memset(bytes, 'x', size);
    r = place_write(&place, bytes, size, &error);
    put_outcome(r, buffer);
    free(bytes);
    place_close(&place);
    return 0;
}

static int do_report(char **words)
{
    const struct peak_result peak = {
        .need = 127, .bound = 256, .samples = 10, .seen = 7, .at_limit = 1, .processes = 3, .open = 90};
    struct prometheus_report report = {
        .workload = words[0],
        .label = words[1],
        .soft = number(words[2]),
        .hard = 1024,
        .inherited_soft = UINT64_MAX,
        .peak = &peak,
        .current = 100,
        .reaped = 4,
        .has_lock = true,
        .lock_refusals = 2,
        .start_time = 1764549000,
    };
    char buffer[PROMETHEUS_MAX_BYTES];
    TEXT_ON(text, buffer);

    prometheus_format(&report, &text);
    return fd_write_all(STDOUT_FILENO, text.at, text.len) < 0;
}

int main(int argc, char **argv)
{
    const char *proc = "/proc";

    if (argc > 2 && strcmp(argv[1], "--proc") == 0) {
        proc = argv[2];
        argc -= 2;
        argv += 2;
    }
    proc_dir = fd_open(AT_FDCWD, proc, O_RDONLY | O_DIRECTORY, 0);
    if (proc_dir < 0)
        errx(2, "%s: %s", proc, err_text(-proc_dir));
    if (argc > 2 && strcmp(argv[1], "process") == 0)
        return do_process(argv + 2);
    if (argc == 3 && strcmp(argv[1], "tree") == 0)
        return do_tree((pid_t)number(argv[2]));
    if (argc > 2 && strcmp(argv[1], "meter") == 0)
        return do_meter(argv + 2);
    if (argc > 6 && strcmp(argv[1], "update") == 0)
        return do_update(argv + 2);
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        return do_write(argv[2], number(argv[3]));
    if (argc == 5 && strcmp(argv[1], "report") == 0)
        return do_report(argv + 2);
    errx(2, "see the beginning of measure_driver.c");
}
