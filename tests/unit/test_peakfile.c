#include "suite.h"

#include "base/err.h"
#include "measure/peakfile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUR 3600000ull

static const char good[] =
    "fdfit-peak 1\n"
    "default need=127 bound=128 observed=86412 at=1764549000 by=python2.7\n"
    "peak-load need=210 bound=256 observed=60 at=1764549100 by=python2.7 how=measured\n"
    "end 2\n";

static void refused(const char *bytes, size_t n, const char *reason)
{
    static struct peak_file file;
    char bad[TEXT_LINE];
    TEXT_ON(err, bad);

    file.count = 77;
    int r = peakfile_parse(bytes, n, &file, &err);

    ck_assert_msg(r == -EINVAL || r == -EBADMSG, "%s", reason);
    ck_assert_str_eq(err.at, reason);
    ck_assert_uint_eq(file.count, 77);
}

static void read_good(const char *bytes, struct peak_file *file)
{
    char bad[TEXT_LINE];
    TEXT_UNTOUCHED(err, bad);

    ck_assert_msg(peakfile_parse(bytes, strlen(bytes), file, &err) == 0, "%s", err.at);
    ck_assert_str_eq(err.at, UNTOUCHED);
}

START_TEST(records_are_read)
{
    struct peak_file file;

    read_good(good, &file);
    ck_assert_uint_eq(file.count, 2);
    ck_assert_str_eq(file.record[0].label, "default");
    ck_assert_str_eq(file.record[0].by, "python2.7");
    ck_assert_uint_eq(file.record[0].need, 127);
    ck_assert_uint_eq(file.record[0].bound, 128);
    ck_assert_uint_eq(file.record[0].observed, 86412);
    ck_assert_uint_eq(file.record[0].at, 1764549000);
    ck_assert(!file.record[0].measured);
    ck_assert_str_eq(file.record[1].label, "peak-load");
    ck_assert(file.record[1].measured);
}
END_TEST

START_TEST(fields_of_later_versions_are_passed_over)
{
    struct peak_file file;

    read_good("fdfit-peak 1\nweb colour=blue need=5 flag x=y=z\nend 1\n", &file);
    ck_assert_uint_eq(file.count, 1);
    ck_assert_uint_eq(file.record[0].need, 5);
    ck_assert_uint_eq(file.record[0].bound, 0);
    ck_assert_str_eq(file.record[0].by, "");
}
END_TEST

START_TEST(a_file_without_records_is_good)
{
    struct peak_file file;

    read_good("fdfit-peak 1\nend 0\n", &file);
    ck_assert_uint_eq(file.count, 0);
}
END_TEST

START_TEST(a_long_program_name_is_cut)
{
    struct peak_file file;

    read_good("fdfit-peak 1\nx by=0123456789abcdef0123456789abcdefMORE need=1\nend 1\n", &file);
    ck_assert_str_eq(file.record[0].by, "0123456789abcdef0123456789abcdef");
}
END_TEST

/* A crash can cut the file anywhere: no beginning of it may pass for a whole one. */
START_TEST(no_beginning_of_a_file_is_a_file)
{
    for (size_t n = 0; n < sizeof(good) - 1; n++) {
        struct peak_file file;
        char bad[TEXT_LINE];
        TEXT_ON(err, bad);

        ck_assert_msg(peakfile_parse(good, n, &file, &err) < 0, "the first %zu bytes pass", n);
        ck_assert_uint_gt(err.len, 0);
    }
}
END_TEST

START_TEST(bad_files_are_refused_with_the_reason)
{
    static const struct {
        const char *bytes, *reason;
    } rows[] = {
        {"", "is empty"},
        {"fdfit-peak 1\nend 0", "is torn: it does not end well, or has NUL bytes"},
        {"hello\n", "is not a peak file"},
        {"fdfit-peak x\nend 0\n", "is not a peak file"},
        {"fdfit-peak 1 \nend 0\n", "is not a peak file"},
        {"fdfit-peak 2\nend 0\n", "has version 2, and this program knows version 1"},
        {"fdfit-peak 0\nend 0\n", "has version 0, and this program knows version 1"},
        {"fdfit-peak 1\n", "is torn: it has no end line"},
        {"fdfit-peak 1\na need=1\n", "is torn: it has no end line"},
        {"fdfit-peak 1\na need=1\nend 2\n", "is torn: its last line counts other records"},
        {"fdfit-peak 1\na need=1\nend \n", "is torn: its last line counts other records"},
        {"fdfit-peak 1\na need=-1\nend 1\n", "has a bad number '-1'"},
        {"fdfit-peak 1\na need=\nend 1\n", "has a bad number ''"},
        {"fdfit-peak 1\na need=1 bound=0x2\nend 1\n", "has a bad number '0x2'"},
        {"fdfit-peak 1\na need=18446744073709551616\nend 1\n", "has a bad number '18446744073709551616'"},
        {"fdfit-peak 1\na bound=64\nend 1\n", "has no need= for the label 'a'"},
        {"fdfit-peak 1\na need=0\nend 1\n", "has no need= for the label 'a'"},
        {"fdfit-peak 1\n need=1\nend 1\n", "has a bad label ''"},
        {"fdfit-peak 1\n\nend 0\n", "has a bad label ''"},
        {"fdfit-peak 1\nneed=1\nend 1\n", "has a bad label 'need=1'"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        refused(rows[i].bytes, strlen(rows[i].bytes), rows[i].reason);
}
END_TEST

START_TEST(a_nul_byte_is_a_torn_file)
{
    static const char holes[] = "fdfit-peak 1\n\0\0\0\0\nend 0\n";

    refused(holes, sizeof(holes) - 1, "is torn: it does not end well, or has NUL bytes");
}
END_TEST

static void many_labels(struct text *t, unsigned count)
{
    text_str(t, "fdfit-peak 1\n");
    for (unsigned i = 0; i < count; i++) {
        text_char(t, 'l');
        text_u64(t, i);
        text_str(t, " need=1\n");
    }
    text_str(t, "end ");
    text_u64(t, count);
    text_char(t, '\n');
}

START_TEST(labels_are_bounded)
{
    struct peak_file file;
    char buffer[4096], word[80];
    TEXT_ON(t, buffer);

    many_labels(&t, PEAKFILE_MAX_RECORDS);
    read_good(t.at, &file);
    ck_assert_uint_eq(file.count, PEAKFILE_MAX_RECORDS);
    text_init(&t, buffer, sizeof(buffer));
    many_labels(&t, PEAKFILE_MAX_RECORDS + 1);
    refused(t.at, t.len, "has more than 32 labels");

    memset(word, 'w', sizeof(word));
    word[PEAKFILE_LABEL] = '\0';
    text_init(&t, buffer, sizeof(buffer));
    text_join(&t, "fdfit-peak 1\n", word, " need=1\nend 1\n", NULL);
    read_good(t.at, &file);
    ck_assert_str_eq(file.record[0].label, word);
    text_init(&t, buffer, sizeof(buffer));
    text_join(&t, "fdfit-peak 1\n", word, "w need=1\nend 1\n", NULL);
    ck_assert_int_lt(peakfile_parse(t.at, t.len, &file, &(struct text){word, 0, sizeof(word)}), 0);
}
END_TEST

START_TEST(the_largest_need_is_summed_up)
{
    struct peak_summary sum;
    struct peak_file file;

    read_good(
        "fdfit-peak 1\na need=10 bound=512 observed=60 at=5\nb need=90 bound=128 observed=1800 at=7\nend 2\n",
        &file);
    ck_assert(peakfile_summary(&file, HOUR, &sum));
    ck_assert_uint_eq(sum.need, 90);
    ck_assert_uint_eq(sum.bound, 512);
    ck_assert_uint_eq(sum.since, 7);
    ck_assert(!sum.counts);
    ck_assert_uint_eq(sum.remaining, HOUR / 2);
}
END_TEST

START_TEST(a_record_counts_once_it_has_settled)
{
    struct peak_summary sum;
    struct peak_file file;

    read_good("fdfit-peak 1\na need=10 observed=3600\nend 1\n", &file);
    ck_assert(peakfile_summary(&file, HOUR, &sum));
    ck_assert(sum.counts);
    ck_assert_uint_eq(sum.remaining, 0);
    ck_assert(peakfile_summary(&file, HOUR + 1, &sum));
    ck_assert(!sum.counts);
    ck_assert_uint_eq(sum.remaining, 1);
    ck_assert(peakfile_summary(&file, 0, &sum));
    ck_assert(sum.counts);
}
END_TEST

START_TEST(a_measured_record_counts_at_once)
{
    struct peak_summary sum;
    struct peak_file file;

    read_good(good, &file);
    ck_assert(peakfile_summary(&file, UINT64_MAX, &sum));
    ck_assert(sum.counts);
}
END_TEST

START_TEST(an_endless_observation_does_not_wrap)
{
    struct peak_summary sum;
    struct peak_file file;

    read_good("fdfit-peak 1\na need=10 observed=18446744073709551615\nend 1\n", &file);
    ck_assert(peakfile_summary(&file, 24 * HOUR, &sum));
    ck_assert(sum.counts);
}
END_TEST

START_TEST(no_records_have_no_summary)
{
    struct peak_summary sum = {.need = 77};
    struct peak_file file = {.count = 0};

    ck_assert(!peakfile_summary(&file, 0, &sum));
    ck_assert_uint_eq(sum.need, 77);
}
END_TEST

static int read_path(const char *path, struct peak_file *file, struct text *err)
{
    text_init(err, err->at, err->cap);
    return peakfile_read(path, file, err);
}

START_TEST(only_a_regular_file_of_bounded_size_is_read)
{
    char folder[] = "/tmp/fdfit-unit.XXXXXX", bad[TEXT_LINE], big[PEAKFILE_MAX_BYTES + 1];
    struct peak_file file;
    TEXT_ON(err, bad);
    int fd;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(read_path("peak", &file, &err), -ENOENT);
    ck_assert_str_eq(err.at, "");
    ck_assert_int_eq(read_path(folder, &file, &err), -EINVAL);
    ck_assert_str_eq(err.at, "is not a regular file");
    ck_assert_int_eq(read_path("/dev/null/peak", &file, &err), -ENOTDIR);
    ck_assert_str_eq(err.at, "a part of the path is not a folder");
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    ck_assert_int_eq(read_path("fifo", &file, &err), -EINVAL);

    memset(big, '#', sizeof(big));
    fd = open("peak", O_WRONLY | O_CREAT, 0600);
    ck_assert_int_eq(write(fd, big, sizeof(big)), (ssize_t)sizeof(big));
    close(fd);
    ck_assert_int_eq(read_path("peak", &file, &err), -EFBIG);
    ck_assert_str_eq(err.at, "too large");

    fd = open("peak", O_WRONLY | O_TRUNC);
    ck_assert_int_eq(write(fd, good, sizeof(good) - 1), (ssize_t)sizeof(good) - 1);
    close(fd);
    ck_assert_int_eq(read_path("peak", &file, &err), 0);
    ck_assert_uint_eq(file.count, 2);
    ck_assert_int_eq(unlink("peak") + unlink("fifo") + rmdir(folder), 0);
}
END_TEST

SUITE("peakfile", records_are_read, fields_of_later_versions_are_passed_over, a_file_without_records_is_good,
      a_long_program_name_is_cut, no_beginning_of_a_file_is_a_file, bad_files_are_refused_with_the_reason,
      a_nul_byte_is_a_torn_file, labels_are_bounded, the_largest_need_is_summed_up,
      a_record_counts_once_it_has_settled, a_measured_record_counts_at_once,
      an_endless_observation_does_not_wrap, no_records_have_no_summary,
      only_a_regular_file_of_bounded_size_is_read)
