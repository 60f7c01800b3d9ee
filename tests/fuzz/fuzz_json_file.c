/* libFuzzer target: JSON with the lines of its values. Of any bytes, either jansson refuses them, and one
 * line of printable reason says so, or each value of the first levels is found again where the scan says that
 * it stands; and the limits of an OCI configuration are taken from it without fault. */
#include "base/err.h"
#include "inspect/engine_read.h"
#include "inspect/json_file.h"
#include "inspect/oci.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH  4
#define VALUES 64 /* each is looked for from the beginning */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_problems(const struct problems *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        for (const char *s = problems->at[i].text; *s; s++)
            require(*s >= 0x20 && *s < 0x7f);
}

/* What the scan finds is the text of the value. */
static void check_value(const struct json_file *file, const struct json_step *steps, size_t count,
                        json_t *value)
{
    struct json_place place;
    json_t *again;

    require(json_file_find(file, steps, count, &place));
    require(place.at >= file->bytes && place.at + place.n <= file->bytes + file->n && place.line >= 1);
    again = json_loadb(place.at, place.n, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    require(again && json_equal(again, value));
    json_decref(again);
}

static void check_below(const struct json_file *file, struct json_step *steps, size_t count, json_t *value,
                        size_t *left)
{
    const char *key;
    json_t *child;
    size_t i;

    if (*left == 0)
        return;
    --*left;
    check_value(file, steps, count, value);
    if (count == DEPTH)
        return;
    json_object_foreach(value, key, child)
    {
        steps[count] = (struct json_step){.key = key};
        check_below(file, steps, count + 1, child, left);
    }
    json_array_foreach(value, i, child)
    {
        steps[count] = (struct json_step){.index = i};
        check_below(file, steps, count + 1, child, left);
    }
}

static void check_limits(const struct assignments *limits)
{
    for (size_t i = 0; i < limits->count; i++)
        require(limits->at[i].line >= 1 &&
                (limits->at[i].state == ASSIGNMENT_BAD) == !!limits->at[i].problem);
}

static void take_limits(const struct json_file *file, struct problems *problems)
{
    static const struct engine_words none;
    struct assignments limits = {0};
    struct engine_read e = {.words = &none, .ret = &limits, .problems = problems};

    require(oci_take_limits(file, "fuzz.json", &limits, problems) == 0);
    check_limits(&limits);
    assignments_deinit(&limits);
    require(engine_docker_take(&e, file, "fuzz.json") == 0);
    check_limits(&limits);
    assignments_deinit(&limits);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct json_step steps[DEPTH];
    struct problems problems = {0};
    struct json_file file;
    size_t left = VALUES;
    char *buffer = malloc(n + 1);

    require(buffer != NULL);
    if (n > 0)
        memcpy(buffer, bytes, n);
    buffer[n] = '\0';
    if (json_file_parse(buffer, n, "fuzz.json", &file, &problems) < 0) {
        require(problems.count == 1);
    } else {
        if (file.json)
            check_below(&file, steps, 0, file.json, &left);
        take_limits(&file, &problems);
        json_file_deinit(&file);
    }
    check_problems(&problems);
    problems_deinit(&problems);
    return 0;
}
