#include "inspect/problems.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINES 20

int problems_add(struct problems *list, const char *file, unsigned line, const char *text)
{
    struct problem *larger = realloc(list->at, (list->count + 1) * sizeof(*larger));
    struct problem add = {.line = line};

    if (!larger)
        return -ENOMEM;
    list->at = larger;
    add.file = strdup(file);
    add.text = strdup(text);
    if (!add.file || !add.text) {
        free(add.file);
        free(add.text);
        return -ENOMEM;
    }
    list->at[list->count++] = add;
    return 0;
}

int problems_add_unread(struct problems *list, const char *file, int error)
{
    char line[TEXT_LINE];
    TEXT_ON(text, line);

    text_join(&text, "can't be read: ", err_text(-error), NULL);
    return problems_add(list, file, 0, text.at);
}

int problems_add_unless_missing(struct problems *list, const char *file, int error)
{
    if (error == -ENOENT || error == -ENOTDIR)
        return 0;
    return error == -ENOMEM ? error : problems_add_unread(list, file, error);
}

int problems_add_quoted(struct problems *list, const char *file, unsigned line, const char *before,
                        const char *word, const char *behind)
{
    char buffer[TEXT_LINE];
    TEXT_ON(text, buffer);

    text_str(&text, before);
    text_quoted(&text, word, strlen(word));
    text_str(&text, behind);
    return problems_add(list, file, line, text.at);
}

int problems_want_line(struct problems *list, const char *file, unsigned line, size_t *told)
{
    if (*told > MAX_LINES)
        return 0;
    if (++*told <= MAX_LINES)
        return 1;
    return problems_add(list, file, line, "more lines like this follow");
}

void problems_deinit(struct problems *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].file);
        free(list->at[i].text);
    }
    free(list->at);
    *list = (struct problems){0};
}
