#include "measure/peakfile.h"

#include "base/num.h"

#include <string.h>

/* One word of the file: see peakfile_format. The '=' too, which would make a label a field. */
static void format_word(const char *word, struct text *t)
{
    for (; *word; word++)
        text_char(t, *word > ' ' && *word < 0x7f && *word != '=' ? *word : '_');
}

static void format_number(const char *name, uint64_t value, struct text *t)
{
    text_number(t, name, value);
}

void peakfile_format(const struct peak_file *file, struct text *t)
{
    text_str(t, "fdfit-peak 1\n");
    for (size_t i = 0; i < file->count; i++) {
        const struct peak_record *record = &file->record[i];

        format_word(record->label, t);
        format_number(" need=", record->need, t);
        format_number(" bound=", record->bound, t);
        format_number(" observed=", record->observed, t);
        format_number(" at=", record->at, t);
        if (record->by[0]) {
            text_str(t, " by=");
            format_word(record->by, t);
        }
        text_str(t, record->measured ? " how=measured\n" : "\n");
    }
    format_number("end ", file->count, t);
    text_char(t, '\n');
}

/* Labels are compared as they stand in the file. */
static bool same_label(const char *a, const char *b)
{
    char words[2][PEAKFILE_LABEL + 1];
    TEXT_ON(left, words[0]);
    TEXT_ON(right, words[1]);

    format_word(a, &left);
    format_word(b, &right);
    return strcmp(left.at, right.at) == 0;
}

static void merge_record(struct peak_record *record, const struct peak_record *add)
{
    if (add->need > record->need) {
        record->need = add->need;
        record->at = add->at;
        memcpy(record->by, add->by, sizeof(record->by));
    }
    record->bound = num_max(record->bound, add->bound);
    record->observed = num_add(record->observed, add->observed);
    record->measured = record->measured || add->measured;
}

int peakfile_merge(struct peak_file *file, const struct peak_record *add, bool reset)
{
    size_t i = 0;

    while (i < file->count && !same_label(file->record[i].label, add->label))
        i++;
    if (add->need == 0 && (reset || i == file->count))
        return 0;
    if (i == PEAKFILE_MAX_RECORDS)
        return PEAKFILE_FULL;
    if (i == file->count) {
        file->count++;
        reset = true;
    }
    if (reset)
        file->record[i] = *add;
    else
        merge_record(&file->record[i], add);
    return 0;
}
