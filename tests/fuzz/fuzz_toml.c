/* libFuzzer target: the TOML reader takes any bytes without fault, says what is wrong in printable lines of a
 * bounded number, and gives a tree whose nodes stand on lines of the file. */
#include "base/err.h"
#include "inspect/toml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_node(const struct toml_node *node, unsigned lines, bool in_table)
{
    bool holds_others = node->kind == TOML_TABLE || node->kind == TOML_ARRAY;
    const struct toml_node *last = NULL;

    require(in_table == (node->key != NULL));
    require(holds_others != (node->text != NULL));
    require(node->line <= lines);
    for (const struct toml_node *child = node->first; child; child = child->next) {
        require(holds_others && child->line >= 1);
        check_node(child, lines, node->kind == TOML_TABLE);
        last = child;
    }
    require(node->last == last);
}

static void check_problems(const struct problems *problems, unsigned lines)
{
    require(problems->count <= 21);
    for (size_t i = 0; i < problems->count; i++) {
        require(problems->at[i].line >= 1 && problems->at[i].line <= lines);
        for (const char *s = problems->at[i].text; *s; s++)
            require(*s >= 0x20 && *s < 0x7f);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *exact = malloc(n ? n : 1); /* nothing stands behind it */
    struct problems problems = {0};
    struct toml_node *root;
    unsigned lines = 1;

    require(exact != NULL);
    if (n > 0)
        memcpy(exact, bytes, n);
    for (size_t i = 0; i < n; i++)
        lines += exact[i] == '\n';
    require(toml_parse(exact, n, "fuzz.toml", &root, &problems) == 0);
    check_node(root, lines, false);
    check_problems(&problems, lines);
    toml_free(root);
    problems_deinit(&problems);
    free(exact);
    return 0;
}
