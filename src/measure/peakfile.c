#include "measure/peakfile.h"

#include "base/err.h"
#include "base/num.h"

#include <string.h>

#define MAGIC "fdfit-peak "

/* A slice of the file. */
struct slice {
    const char *at;
    size_t n;
};

/* Cut what stands before the separator off the front of rest; all of it when there is none. */
static struct slice cut(struct slice *rest, char separator)
{
    const char *end = memchr(rest->at, separator, rest->n);
    struct slice part = {rest->at, end ? (size_t)(end - rest->at) : rest->n};
    size_t used = part.n + (end != NULL);

    rest->at += used;
    rest->n -= used;
    return part;
}

static bool slice_is(const struct slice *s, const char *word)
{
    return s->n == strlen(word) && memcmp(s->at, word, s->n) == 0;
}

static int bad(struct text *reterr, const char *what, const struct slice *s)
{
    text_str(reterr, what);
    text_quoted(reterr, s->at, s->n);
    return -EBADMSG;
}

static int parse_field(struct slice value, const struct slice *name, struct peak_record *record,
                       struct text *reterr)
{
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {
        {"need", &record->need},
        {"bound", &record->bound},
        {"observed", &record->observed},
        {"at", &record->at},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (slice_is(name, numbers[i].name))
            return num_parse(value.at, value.n, numbers[i].to) < 0 ? bad(reterr, "has a bad number ", &value)
                                                                   : 0;
    if (slice_is(name, "how"))
        record->measured = slice_is(&value, "measured");
    if (slice_is(name, "by")) {
        size_t n = value.n < PEAKFILE_NAME ? value.n : PEAKFILE_NAME;

        memcpy(record->by, value.at, n);
        record->by[n] = '\0';
    }
    return 0;
}

static int parse_record(struct slice line, struct peak_file *file, struct text *reterr)
{
    struct peak_record record = {.need = 0};
    struct slice label = cut(&line, ' ');

    if (label.n == 0 || label.n > PEAKFILE_LABEL || memchr(label.at, '=', label.n))
        return bad(reterr, "has a bad label ", &label);
    if (file->count == PEAKFILE_MAX_RECORDS) {
        text_str(reterr, "has more than 32 labels");
        return -EBADMSG;
    }
    memcpy(record.label, label.at, label.n);
    while (line.n > 0) {
        struct slice value = cut(&line, ' ');
        struct slice name = cut(&value, '=');
        int r = parse_field(value, &name, &record, reterr);

        if (r < 0)
            return r;
    }
    if (record.need == 0)
        return bad(reterr, "has no need= for the label ", &label);
    file->record[file->count++] = record;
    return 0;
}

/* The first line names the version. One that is newer may mean other things by the same words. */
static int parse_magic(struct slice line, struct text *reterr)
{
    uint64_t version;

    if (line.n < strlen(MAGIC) || memcmp(line.at, MAGIC, strlen(MAGIC)) != 0 ||
        num_parse(line.at + strlen(MAGIC), line.n - strlen(MAGIC), &version) < 0) {
        text_str(reterr, "is not a peak file");
        return -EINVAL;
    }
    if (version == 1)
        return 0;
    text_number(reterr, "has version ", version);
    text_str(reterr, ", and this program knows version 1");
    return -EINVAL;
}

static int parse_end(struct slice line, size_t records, struct text *reterr)
{
    uint64_t count;

    cut(&line, ' ');
    if (num_parse(line.at, line.n, &count) == 0 && count == records)
        return 0;
    text_str(reterr, "is torn: its last line counts other records");
    return -EBADMSG;
}

/* What a crash makes of a file that was never synced: nothing, its beginning, or nothing but NUL bytes. */
static bool is_torn_of_ours(const char *bytes, size_t n)
{
    static const char begin[] = MAGIC "1\n";

    if (n == 0 || (bytes[0] == '\0' && memcmp(bytes, bytes + 1, n - 1) == 0))
        return true;
    return memcmp(bytes, begin, n < strlen(begin) ? n : strlen(begin)) == 0;
}

static bool is_end(const struct slice *line)
{
    return line->n >= 4 && memcmp(line->at, "end ", 4) == 0 && !memchr(line->at, '=', line->n);
}

int peakfile_parse(const char *bytes, size_t n, struct peak_file *ret, struct text *reterr)
{
    struct slice rest = {bytes, n};
    struct peak_file file;
    int r;

    file.count = 0;
    if (n == 0 || bytes[n - 1] != '\n' || memchr(bytes, '\0', n)) {
        text_str(reterr, n == 0 ? "is empty" : "is torn: it does not end well, or has NUL bytes");
        return is_torn_of_ours(bytes, n) ? -EBADMSG : -EINVAL;
    }
    r = parse_magic(cut(&rest, '\n'), reterr);
    while (r == 0 && rest.n > 0) {
        struct slice line = cut(&rest, '\n');

        if (is_end(&line)) {
            r = parse_end(line, file.count, reterr);
            if (r == 0)
                memcpy(ret, &file, sizeof(file));
            return r;
        }
        r = parse_record(line, &file, reterr);
    }
    if (r == 0)
        text_str(reterr, "is torn: it has no end line");
    return r < 0 ? r : -EBADMSG;
}

bool peakfile_summary(const struct peak_file *file, uint64_t settle, struct peak_summary *ret)
{
    struct peak_summary sum = {.remaining = UINT64_MAX};

    if (file->count == 0)
        return false;
    for (size_t i = 0; i < file->count; i++) {
        const struct peak_record *record = &file->record[i];
        uint64_t observed = num_mul(record->observed, 1000);
        uint64_t remaining = record->measured || observed >= settle ? 0 : settle - observed;

        if (record->need > sum.need) {
            sum.need = record->need;
            sum.since = record->at;
        }
        sum.bound = num_max(sum.bound, record->bound);
        sum.remaining = num_min(sum.remaining, remaining);
    }
    sum.counts = sum.remaining == 0;
    *ret = sum;
    return true;
}
