/* libFuzzer target: the policy parser takes any bytes without fault, touches at most the one byte behind
 * them, and gives either settings whose every value is one that its key takes, or one line of printable
 * reason. */
#include "base/err.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_reason(const struct text *reason)
{
    static const char begin[] = "fuzz.conf:";

    require(reason->len < TEXT_LINE && strncmp(reason->at, begin, strlen(begin)) == 0);
    for (size_t i = 0; i < reason->len; i++)
        require(reason->at[i] >= 0x20 && reason->at[i] < 0x7f);
}

/* What was taken from the file can be written as it would be read, and is then the same. */
static void check_value(const struct settings *settings, enum key_id id)
{
    static char buffer[8 * POLICY_MAX_LINE];
    char bad[TEXT_LINE];
    struct value again;
    TEXT_ON(written, buffer);
    TEXT_ON(reason, bad);

    if (settings->origin[id].kind != ORIGIN_FILE || settings->value[id].kind == VALUE_TEXT)
        return;
    value_format(&settings->value[id], &written);
    require(value_parse(written.at, &key_row(id)->rule, &again, &reason) == 0);
    require(again.kind == settings->value[id].kind && again.number == settings->value[id].number);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct settings settings;
    char bad[TEXT_LINE];
    TEXT_ON(reason, bad);
    char *buffer;

    if (n > POLICY_MAX_BYTES)
        return 0; /* the reader refuses it */
    buffer = malloc(n + 1);
    require(buffer != NULL);
    memcpy(buffer, bytes, n);
    settings_init(&settings);
    if (policy_parse(buffer, n, "fuzz.conf", &settings, &reason) < 0)
        check_reason(&reason);
    else
        for (unsigned id = 0; id < KEY_COUNT; id++)
            check_value(&settings, (enum key_id)id);
    free(buffer);
    return 0;
}
