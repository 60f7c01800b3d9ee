/* fdfitctl measure: how many descriptors do these processes need? */
#include "base/err.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/signals.h"
#include "ctl/commands.h"
#include "ctl/measured.h"
#include "ctl/targets.h"
#include "measure/peakfile.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPT_NAME, OPT_CGROUP, OPT_TREE, OPT_FOR, OPT_INTERVAL, OPT_LABEL, OPT_PEAK_FILE, OPT_JSON };

static const struct command_option options[] = {
    {"name", 'n', "COMM", "measure every process of that name (as in /proc/PID/comm)", OPT_NAME},
    {"cgroup", 'c', "PATH", "measure every process in a cgroup and in those below it", OPT_CGROUP},
    {"tree", 't', NULL, "their descendants too", OPT_TREE},
    {"for", 'f', "TIME", "stop after that time (60s, 5m, 1h); else at their end or at Ctrl-C", OPT_FOR},
    {"interval", 'i', "TIME", "from sample to sample: 100ms and more (1s)", OPT_INTERVAL},
    {"label", 'l', "LABEL", "the line of the peak file to write (default)", OPT_LABEL},
    {"peak-file", 'p', "FILE", "write what was measured into this peak file", OPT_PEAK_FILE},
    {"json", 'j', NULL, "print JSON", OPT_JSON},
    {0},
};

struct request {
    const char *name, *cgroup, *label, *peak_file;
    bool tree, json;
    uint64_t span;     /* milliseconds; UINT64_MAX: until the end */
    uint64_t interval; /* milliseconds */
};

static int take_time(const char *value, uint64_t least, uint64_t *ret, struct text *reterr)
{
    uint64_t ms;

    if (num_parse_duration(value, strlen(value), &ms) < 0) {
        text_quoted(reterr, value, strlen(value));
        text_str(reterr, " is not a time; write 90s, 5m, 1h or 250ms");
        return -EINVAL;
    }
    if (ms < least) {
        text_quoted(reterr, value, strlen(value));
        text_str(reterr, " is too short; the least is ");
        text_duration(reterr, least);
        return -EINVAL;
    }
    *ret = ms;
    return 0;
}

/* A label is one word of a line. */
static int take_label(const char *value, const char **ret, struct text *reterr)
{
    bool good = value[0] != '\0' && strlen(value) <= PEAKFILE_LABEL;

    for (const char *c = value; *c; c++)
        good = good && *c > ' ' && *c < 0x7f && *c != '=';
    if (good) {
        *ret = value;
        return 0;
    }
    text_quoted(reterr, value, strlen(value));
    text_str(reterr, " is no label; write one word of at most 64 letters, digits and '-', without '='");
    return -EINVAL;
}

static int take_text(const char *value, const char **ret, struct text *reterr)
{
    if (value[0] == '\0') {
        text_str(reterr, "the value is empty");
        return -EINVAL;
    }
    *ret = value;
    return 0;
}

static int take(void *data, int id, const char *value, struct text *reterr)
{
    struct request *request = data;

    switch (id) {
    case OPT_NAME: return take_text(value, &request->name, reterr);
    case OPT_CGROUP: return take_text(value, &request->cgroup, reterr);
    case OPT_PEAK_FILE: return take_text(value, &request->peak_file, reterr);
    case OPT_LABEL: return take_label(value, &request->label, reterr);
    case OPT_FOR: return take_time(value, 1, &request->span, reterr);
    case OPT_INTERVAL: return take_time(value, PEAK_INTERVAL_LEAST, &request->interval, reterr);
    case OPT_TREE: request->tree = true; break;
    case OPT_JSON: request->json = true; break;
    }
    return 0;
}

/* What lives as long as the measurement. */
struct session {
    struct out *out;
    const struct request *request;
    struct targets targets;
    struct peak_meter meter;
    struct peak_entry *memory; /* owned */
    struct place place;        /* of the peak file; .folder is -1 without one */
    int signals;               /* a signalfd */
    struct measured measured;
};

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void notify(const struct peak_event *event, void *data)
{
    struct session *s = data;
    char name[TEXT_LINE];
    TEXT_ON(shown, name);

    text_escaped(&shown, event->name.comm, strlen(event->name.comm));
    out_note(s->out, "%s (pid %d) stands at %llu of %llu descriptors: its next open fails", shown.at,
             (int)event->pid, (unsigned long long)event->open, (unsigned long long)event->soft);
}

static void add(pid_t pid, void *data)
{
    peak_meter_add(data, pid);
}

static int sample(struct session *s, size_t *ret_count, struct text *reterr)
{
    int r;

    peak_meter_begin(&s->meter, now_ms());
    r = targets_each(&s->targets, add, &s->meter, ret_count, reterr);
    peak_meter_end(&s->meter);
    s->measured.denied = s->measured.denied || s->meter.result.denied > 0;
    s->measured.untracked = s->measured.untracked || s->meter.result.untracked > 0;
    return r;
}

static void show_live(struct session *s, uint64_t began)
{
    char time_text[32];
    TEXT_ON(span, time_text);
    uint64_t current;

    if (!s->out->live)
        return;
    current = peak_meter_current(&s->meter, now_ms());
    text_duration(&span, (now_ms() - began) / 1000 * 1000);
    out_live(s->out, "peak %llu  current %llu  processes %llu  %s", (unsigned long long)s->meter.result.need,
             (unsigned long long)current, (unsigned long long)s->meter.result.processes, span.at);
}

/* Wait for the next sample, the end of the time, a signal, or the end of a process that was named. */
static void wait_until(struct session *s, uint64_t until)
{
    struct pollfd fds[TARGETS_MAX + 1] = {{.fd = s->signals, .events = POLLIN}};
    uint64_t now = now_ms();
    nfds_t n = 1;
    int r;

    for (size_t i = 0; i < s->targets.count; i++)
        if (!s->targets.pid[i].ended && s->targets.pid[i].pidfd >= 0)
            fds[n++] = (struct pollfd){.fd = s->targets.pid[i].pidfd, .events = POLLIN};
    r = poll(fds, n, now >= until ? 0 : (int)num_min(until - now, 3600 * 1000));
    if (r <= 0)
        return;
    if (fds[0].revents)
        s->measured.ending = ENDING_SIGNAL;
    for (nfds_t i = 1; i < n; i++)
        for (size_t k = 0; fds[i].revents && k < s->targets.count; k++)
            if (s->targets.pid[k].pidfd == fds[i].fd)
                s->targets.pid[k].ended = true;
}

/* Wait and sample, until there is a reason to end. The last sample is taken at the end, so that what was
 * opened since the one before still counts. A cgroup that vanishes has ended as its processes have. */
static void turn(struct session *s)
{
    uint64_t began = now_ms(), end = num_add(began, s->request->span);
    struct measured *measured = &s->measured;
    char ignored[TEXT_LINE];
    TEXT_ON(why, ignored);
    size_t count;

    while (measured->ending == ENDING_NOT) {
        uint64_t until = num_min(s->meter.due, end);

        show_live(s, began);
        while (measured->ending == ENDING_NOT && now_ms() < until && !targets_ended(&s->targets))
            wait_until(s, until);
        if (measured->ending == ENDING_NOT && now_ms() >= end)
            measured->ending = ENDING_TIME;
        if (sample(s, &count, &why) < 0 || targets_ended(&s->targets))
            measured->ending = ENDING_PROCESSES;
    }
}

/* Nothing to measure is an error at the start; later it is the end, or a service between two lives. */
static int find_first(struct session *s, struct text *reterr)
{
    size_t count = 0;
    int r = sample(s, &count, reterr);

    if (r < 0)
        return r;
    if (count == 0) {
        text_str(reterr, "there are no ");
        targets_format(&s->targets, reterr);
        text_str(reterr, "; see ps, or /proc/PID/cgroup");
        return -ESRCH;
    }
    return 0;
}

/* A file that can't be written is said before the measuring, not an hour later. */
static int open_peak_file(struct session *s, struct text *reterr)
{
    const char *path = s->request->peak_file;
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);
    int r = 0, lock;

    if (!path)
        return 0;
    r = place_open(path, &s->place, &why);
    if (r == 0) {
        struct peak_file file;

        r = peakfile_read(path, &file, &why);
        if (r == -ENOENT || r == -EBADMSG)
            r = 0;
    }
    if (r == 0) {
        lock = place_lock(&s->place, &why);
        r = lock < 0 && lock != -EBUSY ? lock : 0;
        fd_close(lock);
    }
    if (r < 0) {
        text_str(reterr, "peak file ");
        text_escaped(reterr, path, strlen(path));
        text_join(reterr, " ", why.at, NULL);
    }
    return r;
}

static int begin(struct session *s, struct text *reterr)
{
    const struct peak_config config = {
        .proc = s->targets.proc,
        .interval = s->request->interval,
        .soft = UINT64_MAX,
        .notify = notify,
        .data = s,
    };

    s->memory = calloc(PEAK_ENTRIES, sizeof(*s->memory));
    if (!s->memory) {
        text_str(reterr, "out of memory");
        return -ENOMEM;
    }
    s->signals = signals_open(SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGTERM) | SIGNAL_BIT(SIGHUP));
    if (s->signals < 0) {
        text_join(reterr, "can't wait for signals: ", err_text(-s->signals), NULL);
        return s->signals;
    }
    return peak_meter_init(&s->meter, &config, s->memory, PEAK_ENTRIES);
}

static int measure(struct session *s, struct text *reterr)
{
    int r = open_peak_file(s, reterr);

    if (r == 0)
        r = begin(s, reterr);
    if (r == 0)
        r = find_first(s, reterr);
    if (r < 0)
        return r;
    turn(s);
    measured_finish(&s->measured, &s->meter, now_ms(), (uint64_t)time(NULL));
    if (s->measured.need == 0) {
        text_str(reterr, "nothing of ");
        targets_format(&s->targets, reterr);
        text_str(reterr, " could be read; run as root");
        return -EPERM;
    }
    if (s->request->peak_file)
        r = measured_write(&s->measured, &s->place, s->request->peak_file, s->request->label, reterr);
    return r;
}

static int report(struct session *s)
{
    const struct measured_words words = {
        .label = s->request->peak_file ? s->request->label : NULL,
        .peak_file = s->request->peak_file,
    };

    if (s->request->json)
        out_json(s->out, measured_json(&s->measured, &s->targets, &words));
    else
        measured_print(&s->measured, &s->targets, &words, s->out);
    return s->measured.result.at_limit > 0 ? CTL_FINDING : CTL_FINE;
}

static int run_session(struct session *s, char **pids, int count)
{
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);
    int r = targets_init(&s->targets, &why), code;

    if (r == 0) {
        s->targets.tree = s->request->tree;
        s->targets.name = s->request->name;
        s->targets.cgroup = s->request->cgroup;
        r = targets_pids(&s->targets, pids, count, &why);
    }
    code = r == -EINVAL ? CTL_USAGE : CTL_UNREAD;
    if (r == 0) {
        r = measure(s, &why);
        code = r < 0 ? CTL_UNREAD : report(s);
    }
    if (r < 0)
        out_error(s->out, "measure: %s", why.at);
    return code;
}

/* Exactly one way to say which processes. */
static const char *contradiction(const struct request *request, int pids)
{
    int ways = (request->name != NULL) + (request->cgroup != NULL) + (pids > 0);

    if (ways == 0)
        return "nothing to measure; give a PID, --name=COMM or --cgroup=PATH";
    if (ways > 1)
        return "PID, --name and --cgroup exclude each other; give one of them";
    if (request->label && !request->peak_file)
        return "--label names a line of a peak file; add --peak-file=FILE";
    return NULL;
}

static int run(struct out *out, int argc, char **argv)
{
    struct request request = {.span = UINT64_MAX, .interval = 1000};
    struct session session = {
        .out = out, .request = &request, .place = {.folder = -1}, .signals = -1, .targets = {.proc = -1}};
    const char *wrong;
    uint64_t mask;
    int first, code;
    int r = command_parse(out, &command_measure, argc, argv, &request, &first);

    if (r != 0)
        return r < 0 ? CTL_USAGE : CTL_FINE;
    wrong = contradiction(&request, argc - first);
    if (wrong) {
        out_error(out, "measure: %s; see fdfitctl measure --help", wrong);
        return CTL_USAGE;
    }
    if (!request.label)
        request.label = "default";
    /* Blocked until the end: a second Ctrl-C must not cut the writing of the peak file off. */
    signals_set_mask(SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGTERM) | SIGNAL_BIT(SIGHUP), &mask);
    code = run_session(&session, argv + first, argc - first);
    targets_deinit(&session.targets);
    place_close(&session.place);
    fd_close(session.signals);
    free(session.memory);
    return code;
}

const struct command command_measure = {
    .name = "measure",
    .arguments = "[options] PID...|--name=COMM|--cgroup=PATH",
    .summary = "measure the peak: how many descriptors one process needs",
    .options = options,
    .take = take,
    .run = run,
};
