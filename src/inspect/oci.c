#include "inspect/oci.h"

#include "base/err.h"
#include "base/num.h"

#include <string.h>

/* There are 16 resources. Each entry is looked for from the beginning of the file, so their number is
 * bounded. */
#define MAX_ENTRIES 64

enum { PROCESS, RLIMITS, ENTRY, FIELD, STEPS };

/* A number that is left out is 0 in Go's runtimes, and a runtime reads nothing but a uint64. */
static int read_number(const struct json_file *file, struct json_step *steps, const char *field,
                       uint64_t *ret, struct text *value)
{
    struct json_place place;

    steps[FIELD].key = field;
    *ret = 0;
    if (!json_file_find(file, steps, STEPS, &place))
        return 0;
    text_escaped(value, place.at, place.n);
    return json_file_u64(&place, ret, NULL);
}

static int add_entry(const struct json_file *file, struct json_step *steps, const char *path,
                     struct assignments *ret)
{
    char shown[TEXT_LINE];
    TEXT_ON(value, shown);
    struct assignment add = {.file = path, .text = shown};
    struct json_place place;
    int r;

    if (!json_file_find(file, steps, ENTRY + 1, &place))
        return 0;
    add.line = place.line;
    r = read_number(file, steps, "soft", &add.limit.soft, &value);
    text_char(&value, ':');
    if (read_number(file, steps, "hard", &add.limit.hard, &value) < 0 || r < 0)
        add.problem = "soft or hard is no number from 0 to 18446744073709551615: no container starts";
    else if (add.limit.soft > add.limit.hard)
        add.problem = "soft is above hard: no container starts";
    add.state = add.problem ? ASSIGNMENT_BAD : ASSIGNMENT_IN_FORCE;
    if (!add.problem)
        assignments_override(ret);
    return assignments_add(ret, &add);
}

int oci_take_limits(const struct json_file *file, const char *path, struct assignments *ret,
                    struct problems *problems)
{
    struct json_step steps[STEPS] = {[PROCESS].key = "process", [RLIMITS].key = "rlimits"};
    json_t *rlimits = json_object_get(json_object_get(file->json, "process"), "rlimits"), *entry;
    size_t i;
    int r = 0;

    if (json_array_size(rlimits) > MAX_ENTRIES)
        return problems_add(problems, path, 0, "process.rlimits has more than 64 entries, and is left out");
    json_array_foreach(rlimits, i, entry)
    {
        const char *type = json_string_value(json_object_get(entry, "type"));

        steps[ENTRY].index = i;
        if (r == 0 && type && strcmp(type, "RLIMIT_NOFILE") == 0)
            r = add_entry(file, steps, path, ret);
    }
    return r;
}

int oci_read_limits(const struct root *root, const char *config_json, struct assignments *ret,
                    struct problems *problems)
{
    struct json_file file;
    int r = json_file_read(root, config_json, &file, problems);

    if (r < 0)
        return r;
    r = oci_take_limits(&file, config_json, ret, problems);
    json_file_deinit(&file);
    return r;
}
