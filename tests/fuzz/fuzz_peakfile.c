/* libFuzzer target: the parser of peak files takes any bytes without fault, and what it takes is whole:
 * bounded, with ended texts, and with a summary that is one of its records. */
#include "base/err.h"
#include "measure/peakfile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_records(const struct peak_file *file)
{
    struct peak_summary sum;
    bool found = false;

    require(file->count <= PEAKFILE_MAX_RECORDS);
    require(peakfile_summary(file, 86400000, &sum) == (file->count > 0));
    for (size_t i = 0; i < file->count; i++) {
        const struct peak_record *record = &file->record[i];

        require(memchr(record->label, '\0', sizeof(record->label)) != NULL && record->label[0] != '\0');
        require(memchr(record->by, '\0', sizeof(record->by)) != NULL);
        require(record->need > 0 && record->need <= sum.need && record->bound <= sum.bound);
        found = found || record->need == sum.need;
    }
    require(file->count == 0 || (found && sum.counts == (sum.remaining == 0)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static struct peak_file file;
    char bad[TEXT_LINE];
    TEXT_ON(reason, bad);
    /* A copy of exactly this length, so that the sanitizers see a read behind it. */
    char *copy = malloc(n > 0 ? n : 1);

    require(copy != NULL);
    if (n > 0)
        memcpy(copy, bytes, n);
    if (peakfile_parse(copy, n, &file, &reason) == 0)
        check_records(&file);
    else
        require(reason.len > 0);
    free(copy);
    return 0;
}
