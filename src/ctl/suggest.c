/* fdfitctl suggest: the limit that fits, in the words of what sets it. */
#include "base/err.h"
#include "ctl/commands.h"
#include "ctl/suggestion.h"
#include "ctl/targets.h"
#include "measure/peakfile.h"
#include "measure/process.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPT_PEAK_FILE, OPT_TREE, OPT_FORMAT, OPT_JSON, OPT_KEY };

static const struct command_option options[] = {
    {"peak-file", 'p', "FILE", "suggest by what this peak file has recorded", OPT_PEAK_FILE},
    {"tree", 't', NULL, "by the descendants of PID too", OPT_TREE},
    {"headroom", 0, "P%|+N", "what to add to the peak (50%)", OPT_KEY + KEY_HEADROOM},
    {"floor", 0, "N", "the least soft limit (256)", OPT_KEY + KEY_FLOOR},
    {"ceiling", 0, "N", "the most (the hard limit that is there)", OPT_KEY + KEY_CEILING},
    {"hard", 0, "N|soft|inherit|unlimited", "the hard limit (the ceiling)", OPT_KEY + KEY_HARD},
    {"format", 'f', "FORMAT", "policy, systemd, docker, compose, podman, oci, kubernetes or prlimit (policy)",
     OPT_FORMAT},
    {"json", 'j', NULL, "print JSON, with the text in it", OPT_JSON},
    {0},
};

struct request {
    const char *peak_file;
    const struct suggestion_format *format;
    bool tree, json;
    struct settings settings;
};

/* What is known of the need. */
struct source {
    uint64_t need, bound;
    bool exact;          /* need was read; else it is the bound */
    bool counts;         /* long enough observed for the launcher to use it by itself */
    struct nofile limit; /* what is there: the process's pair, or with a peak file ours */
    pid_t pid;           /* of the one process, or 0 */
    char need_text[24];  /* need, as a setting */
    char by[4 * PEAKFILE_NAME + 8];
    char when[16]; /* "2026-12-01", or "" */
    char label[PEAKFILE_LABEL + 1];
    uint64_t observed; /* seconds */
};

static int take_format(const char *value, const struct suggestion_format **ret, struct text *reterr)
{
    const struct suggestion_format *format = suggestion_format_find(value);

    if (!format) {
        text_quoted(reterr, value, strlen(value));
        text_str(reterr, " is not known; write one of ");
        suggestion_format_names(reterr);
        return -EINVAL;
    }
    *ret = format;
    return 0;
}

static int take(void *data, int id, const char *value, struct text *reterr)
{
    struct request *request = data;

    switch (id) {
    case OPT_PEAK_FILE: request->peak_file = value; return 0;
    case OPT_TREE: request->tree = true; return 0;
    case OPT_FORMAT: return take_format(value, &request->format, reterr);
    case OPT_JSON: request->json = true; return 0;
    }
    return settings_put(&request->settings, (enum key_id)(id - OPT_KEY), value,
                        (struct origin){ORIGIN_ARG, 0}, reterr);
}

static void escape(const char *name, char *ret, size_t size)
{
    struct text text;

    text_init(&text, ret, size);
    text_escaped(&text, name, strlen(name));
}

/* ---- the need of running processes ---- */

struct look {
    struct source *source;
    const struct targets *targets;
    size_t read;
};

/* The largest single process decides. Where the highest number may not be read, the table's size is all that
 * is known, and enough. */
static void look_at(pid_t pid, void *data)
{
    struct look *look = data;
    struct source *source = look->source;
    int proc = look->targets->proc;
    struct process_tables tables;
    struct process_name name;
    uint64_t need;

    if (process_measure(proc, pid, &tables) != 0)
        return;
    look->read++;
    need = tables.exact ? tables.need : tables.size;
    if (tables.size > source->bound)
        source->bound = tables.size;
    if (need <= source->need)
        return;
    source->need = need;
    source->exact = tables.exact;
    if (process_name(proc, pid, &name) == 0)
        escape(name.comm, source->by, sizeof(source->by));
}

static int read_processes(struct targets *targets, char **words, int count, struct source *source,
                          struct text *reterr)
{
    struct look look = {.source = source, .targets = targets};
    size_t met;
    int r = targets_pids(targets, words, count, reterr);

    if (r == 0)
        r = targets_each(targets, look_at, &look, &met, reterr);
    if (r < 0)
        return r;
    if (look.read == 0) {
        text_join(reterr, "pid ", words[0], " has ended, or may not be read; run as root", NULL);
        return -EPERM;
    }
    r = target_limits(targets->proc, targets->pid[0].pid, &source->limit);
    if (r < 0) {
        text_join(reterr, "/proc/", words[0], "/limits can't be read: ", err_text(-r), NULL);
        return r;
    }
    source->pid = count == 1 ? targets->pid[0].pid : 0;
    source->counts = true;
    return 0;
}

/* ---- the need that was recorded ---- */

static void format_day(uint64_t seconds, char *ret, size_t size)
{
    time_t at = (time_t)seconds;
    struct tm tm;

    ret[0] = '\0';
    if (seconds > 0 && gmtime_r(&at, &tm))
        strftime(ret, size, "%Y-%m-%d", &tm);
}

static void take_record(const struct peak_record *record, struct source *source)
{
    source->need = record->need;
    source->observed = record->observed;
    escape(record->by, source->by, sizeof(source->by));
    escape(record->label, source->label, sizeof(source->label));
    format_day(record->at, source->when, sizeof(source->when));
}

static int read_peak_file(const char *path, uint64_t settle, struct source *source, struct text *reterr)
{
    struct peak_summary sum;
    struct peak_file file;
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);
    int r = peakfile_read(path, &file, &why);

    if (r == -ENOENT)
        text_str(&why, "does not exist; fdfitctl measure --peak-file writes one");
    if (r == 0 && !peakfile_summary(&file, settle, &sum)) {
        text_str(&why, "holds no record yet; fdfitctl measure --peak-file writes one");
        r = -ENODATA;
    }
    if (r == 0)
        r = sys_prlimit_nofile(0, NULL, &source->limit);
    if (r < 0) {
        text_str(reterr, "peak file ");
        text_escaped(reterr, path, strlen(path));
        text_join(reterr, " ", why.at, NULL);
        return r;
    }
    for (size_t i = 0; i < file.count; i++)
        if (i == 0 || file.record[i].need > source->need)
            take_record(&file.record[i], source);
    source->bound = sum.bound;
    source->exact = true;
    source->counts = sum.counts;
    return 0;
}

/* ---- the decision ---- */

/* A policy has no key for the bound. Where it decided, the floor says the same. */
static int find_floor(const struct plan_in *in, struct suggestion *s, struct text *reterr)
{
    struct plan_in without = *in;
    struct plan plan;
    int r;

    without.recorded.bound = 0;
    r = plan_make(s->settings, &without, &plan, reterr);
    if (r < 0)
        return r;
    if (plan.limit.soft != s->plan.limit.soft)
        s->floor = s->plan.limit.soft;
    else if (s->settings->origin[KEY_FLOOR].kind == ORIGIN_ARG)
        s->floor = s->settings->value[KEY_FLOOR].number;
    return 0;
}

static int decide(struct request *request, struct source *source, struct suggestion *s, struct text *reterr)
{
    const struct origin argument = {ORIGIN_ARG, 0};
    struct text number;
    struct plan_in in = {
        .inherited = source->limit,
        .recorded = {.present = true, .counts = true, .need = source->need, .bound = source->bound},
    };
    int r;

    sys_nr_open(&in.nr_open); /* without /proc/sys it stays 0, unknown */
    text_init(&number, source->need_text, sizeof(source->need_text));
    text_u64(&number, source->need);
    r = settings_put(&request->settings, KEY_PEAK, source->need_text, argument, reterr);
    if (r == 0)
        r = settings_put(&request->settings, KEY_SOFT, "peak", argument, reterr);
    if (r == 0)
        r = plan_make(&request->settings, &in, &s->plan, reterr);
    if (r == PLAN_NEEDS_NR_OPEN || (r == 0 && s->plan.limit.hard == UINT64_MAX)) {
        text_str(reterr, "can't read /proc/sys/fs/nr_open, which 'unlimited' stands for; give a number");
        return -ENOENT;
    }
    s->settings = &request->settings;
    s->pid = source->pid;
    return r == 0 ? find_floor(&in, s, reterr) : r;
}

/* ---- the reasons ---- */

static void write_source(const struct request *request, const struct source *source, char **words, FILE *file)
{
    if (request->peak_file) {
        char path[TEXT_LINE], time_text[64];
        TEXT_ON(shown, path);
        TEXT_ON(span, time_text);

        text_escaped(&shown, request->peak_file, strlen(request->peak_file));
        text_duration(&span, source->observed * 1000);
        fprintf(file, "by the peak file %s, label %s, observed for %s\n", shown.at, source->label, span.at);
    } else {
        fprintf(file, "by what is open now in pid %s%s; a peak may be higher: see fdfitctl measure\n",
                words[0], request->tree || words[1] ? " and others" : "");
    }
    if (source->exact)
        fprintf(file, "need %llu: the highest descriptor number in one process + 1%s%s%s%s\n",
                (unsigned long long)source->need, source->by[0] ? ", in " : "", source->by,
                source->when[0] ? " on " : "", source->when);
    else
        fprintf(file,
                "need %llu: the size of a descriptor table; the highest number may not be read (root may)\n",
                (unsigned long long)source->need);
}

static char *make_reasons(const struct request *request, const struct source *source,
                          const struct suggestion *s, char **words)
{
    char line[TEXT_LINE], *reasons = NULL;
    TEXT_ON(decision, line);
    size_t n;
    FILE *file = open_memstream(&reasons, &n);

    if (!file)
        return NULL;
    plan_format(&s->plan, &decision);
    fprintf(file, "%s\n", decision.at);
    write_source(request, source, words, file);
    if (s->floor && s->floor != s->settings->value[KEY_FLOOR].number)
        fprintf(file,
                "floor %llu: a table of %llu was seen, so a burst needed more than the need that was seen\n",
                (unsigned long long)s->floor, (unsigned long long)s->plan.bound);
    if (fclose(file) != 0) {
        free(reasons);
        return NULL;
    }
    return reasons;
}

static char *make_text(const struct suggestion_format *format, const struct suggestion *s)
{
    char *text = NULL;
    size_t n;
    FILE *file = open_memstream(&text, &n);

    if (!file)
        return NULL;
    format->write(s, file);
    if (fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- what is shown ---- */

static json_t *reasons_json(const char *reasons)
{
    json_t *array = json_array();

    while (array && *reasons) {
        size_t n = strcspn(reasons, "\n");

        if (json_array_append_new(array, json_stringn(reasons, n)) < 0) {
            json_decref(array);
            return NULL;
        }
        reasons += n + 1;
    }
    return array;
}

static json_t *suggestion_json(const struct request *request, const struct source *source,
                               const struct suggestion *s, const char *text)
{
    char buffer[64];
    TEXT_ON(headroom, buffer);

    value_format(&s->settings->value[KEY_HEADROOM], &headroom);
    return json_pack("{s:o, s:o, s:o, s:b, s:b, s:o, s:{s:o, s:o}, s:s, s:o, s:o, s:o, s:s, s:s}", "soft",
                     out_json_limit(s->plan.limit.soft), "hard", out_json_limit(s->plan.limit.hard), "need",
                     out_json_u64(source->need), "exact", (int)source->exact, "counts", (int)source->counts,
                     "bound", out_json_u64(source->bound), "inherited", "soft",
                     out_json_limit(s->plan.inherited.soft), "hard", out_json_limit(s->plan.inherited.hard),
                     "headroom", headroom.at, "floor", out_json_u64(s->plan.floor), "ceiling",
                     out_json_limit(s->plan.ceiling), "reasons", reasons_json(s->reasons), "format",
                     request->format->name, "text", text);
}

static void say_reasons(struct out *out, const char *reasons)
{
    while (*reasons) {
        int n = (int)strcspn(reasons, "\n");

        out_note(out, "%.*s", n, reasons);
        reasons += n + 1;
    }
}

/* What is worth a second look: the peak at the ceiling, and a record that is too young. */
static int say_findings(struct out *out, const struct source *source, const struct suggestion *s)
{
    char buffer[TEXT_LINE];
    TEXT_ON(warning, buffer);

    plan_warning(&s->plan, &warning);
    if (warning.len > 0)
        out_note(out, "%s", warning.at);
    if (!source->counts)
        out_note(out, "no record was observed for 24h yet: the start of a workload may not show its peak");
    return warning.len > 0 || !source->counts ? CTL_FINDING : CTL_FINE;
}

static int show(struct out *out, const struct request *request, const struct source *source,
                struct suggestion *s, char **words)
{
    char *reasons = make_reasons(request, source, s, words), *text = NULL;
    int code = CTL_UNREAD;

    s->reasons = reasons;
    if (reasons)
        text = make_text(request->format, s);
    if (!text) {
        out_error(out, "suggest: out of memory");
    } else {
        if (request->json)
            out_json(out, suggestion_json(request, source, s, text));
        else
            out_print(out, "%s", text);
        if (!request->json && !request->format->comments)
            say_reasons(out, reasons);
        code = say_findings(out, source, s);
    }
    free(text);
    free(reasons);
    return code;
}

static int suggest(struct out *out, struct request *request, struct targets *targets, char **words, int count)
{
    struct source source = {.need = 0};
    struct suggestion s = {.floor = 0};
    char bad[TEXT_LINE];
    TEXT_ON(why, bad);
    int r = targets_init(targets, &why);
    bool usage;

    targets->tree = request->tree;
    if (r == 0 && request->peak_file)
        r = read_peak_file(request->peak_file, request->settings.value[KEY_SETTLE].number, &source, &why);
    else if (r == 0)
        r = read_processes(targets, words, count, &source, &why);
    usage = r == -EINVAL && !request->peak_file;
    if (r == 0) {
        r = decide(request, &source, &s, &why);
        usage = r < 0;
    }
    if (r == 0)
        return show(out, request, &source, &s, words);
    out_error(out, "suggest: %s", why.at);
    return usage ? CTL_USAGE : CTL_UNREAD;
}

static int run(struct out *out, int argc, char **argv)
{
    struct request request = {.format = suggestion_format_find("policy")};
    struct targets targets = {.proc = -1};
    int first, code, r;

    settings_init(&request.settings);
    r = command_parse(out, &command_suggest, argc, argv, &request, &first);
    if (r != 0)
        return r < 0 ? CTL_USAGE : CTL_FINE;
    if ((argc > first) == (request.peak_file != NULL)) {
        out_error(out, "suggest: %s; see fdfitctl suggest --help",
                  request.peak_file ? "PID and --peak-file exclude each other; give one of them"
                                    : "nothing to suggest by; give a PID or --peak-file=FILE");
        return CTL_USAGE;
    }
    code = suggest(out, &request, &targets, argv + first, argc - first);
    targets_deinit(&targets);
    return code;
}

const struct command command_suggest = {
    .name = "suggest",
    .arguments = "[options] PID...|--peak-file=FILE",
    .summary = "suggest a limit by the peak, for fdfit or for what you already run",
    .options = options,
    .take = take,
    .run = run,
};
