/* dockerd: daemon.json and --default-ulimit (docs.docker.com, dockerd, "Default ulimit settings"; moby,
 * daemon/config/config.go). */
#include "inspect/engine_read.h"

#include "base/err.h"
#include "inspect/ulimit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* There are 16 resources. Each entry is looked for from the beginning of the file, so their number is
 * bounded. */
#define MAX_ENTRIES 64

static const char *const flag[] = {"--default-ulimit", NULL};

/* The member that Go's encoding/json takes for a field: it does not look at the case. */
static const char *field_key(json_t *object, const char *name)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (strcasecmp(key, name) == 0)
            return key;
    }
    return NULL;
}

/* One limit of an entry, and its text. What is left out is 0, as in Go. */
static int read_field(const struct json_file *file, const char *entry, const char *key, uint64_t *ret,
                      struct text *text)
{
    const struct json_step steps[] = {{.key = "default-ulimits"}, {.key = entry}, {.key = key}};
    struct json_place place;

    *ret = 0;
    if (!key || !json_file_find(file, steps, 3, &place))
        return 0;
    text_escaped(text, place.at, place.n);
    return ulimit_parse_number(place.at, place.n, ret);
}

/* One entry of default-ulimits: {"Name": "nofile", "Hard": N, "Soft": N}. Its Name counts, not its key. */
static int take_entry(const struct engine_read *e, const struct json_file *file, const char *path,
                      const char *entry, json_t *object)
{
    const struct json_step steps[] = {{.key = "default-ulimits"}, {.key = entry}};
    const char *name_key = field_key(object, "name"), *name;
    struct json_place place;
    struct nofile limit;
    char shown[TEXT_LINE];
    TEXT_ON(text, shown);
    int r;

    name = name_key ? json_string_value(json_object_get(object, name_key)) : NULL;
    if (!name || strcasecmp(name, "nofile") != 0 || !json_file_find(file, steps, 2, &place))
        return 0;
    r = read_field(file, entry, field_key(object, "soft"), &limit.soft, &text);
    text_char(&text, ':');
    if (read_field(file, entry, field_key(object, "hard"), &limit.hard, &text) == 0 && r == 0)
        return engine_add(e, path, place.line, shown, &limit);
    r = assignments_add(e->ret, &(struct assignment){.file = path,
                                                     .line = place.line,
                                                     .text = shown,
                                                     .state = ASSIGNMENT_BAD,
                                                     .problem = "Soft or Hard is no whole number"});
    return r < 0 ? r
                 : problems_add(e->problems, path, place.line,
                                "Soft or Hard is no whole number: dockerd does not start with it");
}

static int take_file(const struct engine_read *e, const struct json_file *file, const char *path)
{
    static const struct json_step step = {.key = "default-ulimits"};
    json_t *ulimits = json_object_get(file->json, step.key), *object;
    struct json_place place;
    const char *entry;
    int r = 0;

    if (!ulimits || json_is_null(ulimits) || !json_file_find(file, &step, 1, &place))
        return 0;
    if (!json_is_object(ulimits))
        return problems_add(e->problems, path, place.line,
                            "default-ulimits is no object: dockerd does not start with it");
    if (json_object_size(ulimits) > MAX_ENTRIES)
        return problems_add(e->problems, path, place.line,
                            "default-ulimits has more than 64 entries, and is left out");
    json_object_foreach(ulimits, entry, object)
    {
        if (r == 0)
            r = take_entry(e, file, path, entry, object);
    }
    return r;
}

/* Where daemon.json has the key, the flag may not be there, whatever resource it names. Returns the line, 0:
 * it has no such key. */
static unsigned line_of_key(const struct json_file *file)
{
    static const struct json_step step = {.key = "default-ulimits"};
    struct json_place place;

    return json_file_find(file, &step, 1, &place) ? place.line : 0;
}

static int take_flags(const struct engine_read *e)
{
    const struct engine_word *word;
    const char *value;
    int r = 0;

    for (size_t nth = 0; r == 0 && (word = engine_words_option(e->words, flag, nth, &value)); nth++)
        r = engine_add_ulimit(e, "dockerd", word->file, word->line, value);
    return r;
}

/* What was appended can't come into force: the daemon that is started next ends at once. */
static int take_conflict(const struct engine_read *e, const char *path, unsigned line)
{
    for (size_t i = 0; i < e->ret->count; i++) {
        struct assignment *a = &e->ret->at[i];

        if (a->state == ASSIGNMENT_BAD)
            continue;
        a->state = ASSIGNMENT_BAD;
        a->problem = strdup("set by daemon.json and by --default-ulimit: dockerd does not start");
        if (!a->problem)
            return -ENOMEM;
    }
    return problems_add(e->problems, path, line,
                        "default-ulimits stands beside the option --default-ulimit: dockerd does not start "
                        "with both; take one away");
}

int engine_docker_take(const struct engine_read *e, const struct json_file *file, const char *path)
{
    unsigned line = line_of_key(file);
    const char *value;
    int r = take_file(e, file, path);

    if (r == 0)
        r = take_flags(e);
    if (r < 0 || line == 0 || !engine_words_option(e->words, flag, 0, &value))
        return r;
    return take_conflict(e, path, line);
}

int engine_docker(const struct engine_read *e)
{
    static const char *const options[] = {"--config-file", NULL};
    const char *path = engine_file(e, options, "/etc/docker/daemon.json");
    struct json_file file = {0};
    int r = json_file_read(e->root, path, &file, e->problems);

    if (r < 0 && r != -EBADMSG)
        r = problems_add_unless_missing(e->problems, path, r);
    if (r != -ENOMEM)
        r = engine_docker_take(e, &file, path);
    json_file_deinit(&file);
    return r;
}
