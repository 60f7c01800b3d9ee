#include "inspect/assignment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void deinit(struct assignment *a)
{
    free((char *)a->file);
    free((char *)a->text);
    free((char *)a->problem);
}

int assignments_add(struct assignments *list, const struct assignment *add)
{
    struct assignment *larger = realloc(list->at, (list->count + 1) * sizeof(*larger));
    struct assignment *a;

    if (!larger)
        return -ENOMEM;
    list->at = larger;
    a = &list->at[list->count];
    *a = *add;
    a->file = strdup(add->file);
    a->text = strdup(add->text);
    a->problem = add->problem ? strdup(add->problem) : NULL;
    if (!a->file || !a->text || (add->problem && !a->problem)) {
        deinit(a);
        return -ENOMEM;
    }
    list->count++;
    return 0;
}

void assignments_override(struct assignments *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].state == ASSIGNMENT_IN_FORCE)
            list->at[i].state = ASSIGNMENT_OVERRIDDEN;
}

const struct assignment *assignments_last(const struct assignments *list)
{
    for (size_t i = list->count; i > 0; i--)
        if (list->at[i - 1].state == ASSIGNMENT_IN_FORCE)
            return &list->at[i - 1];
    return NULL;
}

void assignments_deinit(struct assignments *list)
{
    for (size_t i = 0; i < list->count; i++)
        deinit(&list->at[i]);
    free(list->at);
    *list = (struct assignments){0};
}
