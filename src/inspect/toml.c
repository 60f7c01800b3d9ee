#include "inspect/toml.h"

#include "base/err.h"
#include "inspect/toml_scan.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Of a file: configurations have some hundreds of values, and the levels of a few tables. */
#define MAX_NODES 10000
#define MAX_DEPTH 32

struct parser {
    struct toml_scan scan;
    struct toml_node *root, *table; /* where the next key goes; NULL: below a header that could not be read */
    const char *file;
    struct problems *problems;
    size_t nodes, told;
};

struct toml_node *toml_free(struct toml_node *node)
{
    while (node && node->first) {
        struct toml_node *child = node->first;

        node->first = child->next;
        toml_free(child);
    }
    if (node) {
        free(node->key);
        free(node->text);
        free(node);
    }
    return NULL;
}

const struct toml_node *toml_member(const struct toml_node *table, const char *key)
{
    if (!table || table->kind != TOML_TABLE)
        return NULL;
    for (const struct toml_node *child = table->first; child; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

const struct toml_node *toml_find(const struct toml_node *table, const char *const *keys)
{
    while (table && *keys)
        table = toml_member(table, *keys++);
    return table;
}

/* A node of a parent's, which owns it. Takes key over. Returns 0, -EBADMSG (too many) or -ENOMEM. */
static int add_node(struct parser *p, struct toml_node *parent, enum toml_kind kind, char *key,
                    struct toml_node **ret)
{
    struct toml_node *node = p->nodes < MAX_NODES ? calloc(1, sizeof(*node)) : NULL;

    if (!node) {
        free(key);
        return p->nodes < MAX_NODES ? -ENOMEM
                                    : toml_scan_refuse(&p->scan, "10000 values are read, and no more");
    }
    p->nodes++;
    node->kind = kind;
    node->key = key;
    node->line = p->scan.line;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    *ret = node;
    return 0;
}

/* Take the last one of a parent's away again. */
static void drop_last(struct toml_node *parent)
{
    struct toml_node **link = &parent->first, *last = NULL;

    for (; *link && *link != parent->last; link = &(*link)->next)
        last = *link;
    toml_free(*link);
    *link = NULL;
    parent->last = last;
}

/* One step down a key's parts, to a table that is made where there is none. Takes key over. */
static int step_down(struct parser *p, struct toml_node **table, char *key)
{
    struct toml_node *child = (struct toml_node *)toml_member(*table, key);

    if (!child)
        return add_node(p, *table, TOML_TABLE, key, table);
    free(key);
    if (child->kind == TOML_ARRAY && child->last)
        child = child->last;
    if (child->kind != TOML_TABLE)
        return toml_scan_refuse(&p->scan, "a key below one that is no table");
    *table = child;
    return 0;
}

/* Read the parts of a key, and go down all but the last, which is the caller's. */
static int read_key(struct parser *p, struct toml_node **table, char **ret_last)
{
    char *key;

    for (size_t depth = 0; depth < MAX_DEPTH; depth++) {
        int r = toml_scan_key(&p->scan, &key);

        if (r < 0)
            return r;
        toml_scan_blanks(&p->scan);
        if (!toml_scan_take(&p->scan, ".")) {
            *ret_last = key;
            return 0;
        }
        toml_scan_blanks(&p->scan);
        r = step_down(p, table, key);
        if (r < 0)
            return r;
    }
    return toml_scan_refuse(&p->scan, "a key of more than 32 parts");
}

static int read_value(struct parser *p, struct toml_node *node, unsigned depth);

static int read_array(struct parser *p, struct toml_node *array, unsigned depth)
{
    array->kind = TOML_ARRAY;
    for (;;) {
        struct toml_node *element = NULL;
        int r;

        toml_scan_lines(&p->scan);
        if (toml_scan_take(&p->scan, "]"))
            return 0;
        r = add_node(p, array, TOML_NUMBER, NULL, &element);
        if (r == 0)
            r = read_value(p, element, depth);
        if (r < 0)
            return r;
        toml_scan_lines(&p->scan);
        if (toml_scan_take(&p->scan, ","))
            continue;
        return toml_scan_take(&p->scan, "]") ? 0 : toml_scan_refuse(&p->scan, "an array without its end");
    }
}

/* One "key = value". What it began to add is taken away again when it is bad. */
static int read_pair(struct parser *p, struct toml_node *table, unsigned depth)
{
    struct toml_node *node = NULL;
    char *key;
    int r = read_key(p, &table, &key);

    if (r < 0)
        return r;
    if (!toml_scan_take(&p->scan, "=")) {
        free(key);
        return toml_scan_refuse(&p->scan, "no = behind a key");
    }
    toml_scan_blanks(&p->scan);
    if (toml_member(table, key)) {
        free(key);
        return toml_scan_refuse(&p->scan, "a key for the second time");
    }
    r = add_node(p, table, TOML_NUMBER, key, &node);
    if (r < 0)
        return r;
    r = read_value(p, node, depth);
    if (r < 0)
        drop_last(table);
    return r;
}

static int read_inline_table(struct parser *p, struct toml_node *table, unsigned depth)
{
    table->kind = TOML_TABLE;
    table->defined = true;
    for (;;) {
        int r;

        toml_scan_lines(&p->scan);
        if (toml_scan_take(&p->scan, "}"))
            return 0;
        r = read_pair(p, table, depth);
        if (r < 0)
            return r;
        toml_scan_lines(&p->scan);
        if (toml_scan_take(&p->scan, ","))
            continue;
        return toml_scan_take(&p->scan, "}") ? 0 : toml_scan_refuse(&p->scan, "a table without its end");
    }
}

static int read_bare(struct parser *p, struct toml_node *node)
{
    int r = toml_scan_bare(&p->scan, &node->text);

    if (r < 0)
        return r;
    node->kind = TOML_NUMBER;
    if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)
        node->kind = TOML_BOOLEAN;
    else if (!strchr("+-0123456789", node->text[0]) && strcmp(node->text, "inf") != 0 &&
             strcmp(node->text, "nan") != 0)
        return toml_scan_refuse(&p->scan, "a value without quotation marks");
    return 0;
}

static int read_value(struct parser *p, struct toml_node *node, unsigned depth)
{
    if (depth == MAX_DEPTH)
        return toml_scan_refuse(&p->scan, "arrays and tables of more than 32 levels");
    if (toml_scan_take(&p->scan, "["))
        return read_array(p, node, depth + 1);
    if (toml_scan_take(&p->scan, "{"))
        return read_inline_table(p, node, depth + 1);
    if (!toml_scan_is_string(&p->scan))
        return read_bare(p, node);
    node->kind = TOML_STRING;
    return toml_scan_string(&p->scan, &node->text);
}

/* [[name]]: one more table in the array of that name. Takes key over. */
static int open_element(struct parser *p, struct toml_node *table, char *key, struct toml_node **ret)
{
    struct toml_node *array = (struct toml_node *)toml_member(table, key);

    if (!array) {
        int r = add_node(p, table, TOML_ARRAY, key, &array);

        if (r < 0)
            return r;
    } else {
        free(key);
    }
    if (array->kind != TOML_ARRAY || (array->last && array->last->kind != TOML_TABLE))
        return toml_scan_refuse(&p->scan, "a table in what is no array of tables");
    return add_node(p, array, TOML_TABLE, NULL, ret);
}

/* [name]. A second header of the same name goes on where the first one ended. */
static int open_table(struct parser *p, struct toml_node *table, char *key, struct toml_node **ret)
{
    int r = step_down(p, &table, key);

    if (r < 0)
        return r;
    *ret = table;
    if (table->defined)
        return toml_scan_refuse(&p->scan, "a table for the second time");
    table->defined = true;
    table->line = p->scan.line;
    return 0;
}

static int read_header(struct parser *p)
{
    bool element = toml_scan_take(&p->scan, "[");
    struct toml_node *table = p->root, *opened = NULL;
    char *key;
    int r;

    p->table = NULL;
    toml_scan_blanks(&p->scan);
    r = read_key(p, &table, &key);
    if (r < 0)
        return r;
    if (!toml_scan_take(&p->scan, element ? "]]" : "]")) {
        free(key);
        return toml_scan_refuse(&p->scan, "a header without its end");
    }
    r = element ? open_element(p, table, key, &opened) : open_table(p, table, key, &opened);
    p->table = opened;
    return r;
}

static int read_statement(struct parser *p)
{
    struct toml_node lost = {.kind = TOML_TABLE};
    int r;

    if (toml_scan_take(&p->scan, "[")) {
        r = read_header(p);
    } else if (p->table) {
        r = read_pair(p, p->table, 0);
    } else {
        /* Below a header that could not be read: a value of several lines is stepped over as one. */
        r = read_pair(p, &lost, 0);
        while (lost.first)
            drop_last(&lost);
    }
    if (r < 0)
        return r;
    toml_scan_blanks(&p->scan);
    if (p->scan.at < p->scan.end && !memchr("\r\n#", *p->scan.at, 3))
        return toml_scan_refuse(&p->scan, "something behind the value");
    toml_scan_rest(&p->scan);
    return 0;
}

static int add_problem(struct parser *p, unsigned line, const char *why)
{
    int wanted = problems_want_line(p->problems, p->file, line, &p->told);
    char buffer[TEXT_LINE];
    TEXT_ON(text, buffer);

    if (wanted <= 0)
        return wanted;
    text_join(&text, "no TOML: ", why, NULL);
    return problems_add(p->problems, p->file, line, text.at);
}

/* The engines' readers want UTF-8; what is read here is bytes. */
static int check_utf8(struct parser *p)
{
    unsigned line = 1;

    for (const char *at = p->scan.at; at < p->scan.end; line++) {
        const char *end = memchr(at, '\n', (size_t)(p->scan.end - at));
        json_t *json;

        end = end ? end + 1 : p->scan.end;
        json = json_stringn(at, (size_t)(end - at));
        if (!json)
            return add_problem(p, line, "bytes that are no UTF-8");
        json_decref(json);
        at = end;
    }
    return 0;
}

/* Go on behind a bad statement. Where it took several lines, the one where it broke is read again: it may be
 * the header behind an array without its end. */
static int recover(struct parser *p, const struct toml_scan *begin)
{
    int r = add_problem(p, p->scan.line, p->scan.why);
    const char *last = memrchr(begin->at, '\n', (size_t)(p->scan.at - begin->at));

    if (p->scan.line > begin->line && last)
        p->scan.at = last + 1;
    else
        toml_scan_rest(&p->scan);
    return r;
}

int toml_parse(const char *bytes, size_t n, const char *file, struct toml_node **ret,
               struct problems *problems)
{
    struct parser p = {.scan = {bytes, bytes + n, 1, NULL}, .file = file, .problems = problems};
    int r;

    p.root = calloc(1, sizeof(*p.root));
    if (!p.root)
        return -ENOMEM;
    p.table = p.root;
    toml_scan_take(&p.scan, "\xef\xbb\xbf");
    r = check_utf8(&p);
    for (toml_scan_lines(&p.scan); r == 0 && p.scan.at < p.scan.end; toml_scan_lines(&p.scan)) {
        struct toml_scan begin = p.scan;

        r = read_statement(&p);
        if (r == -EBADMSG)
            r = recover(&p, &begin);
        if (p.nodes == MAX_NODES && p.told > 0)
            break;
    }
    if (r < 0)
        toml_free(p.root);
    else
        *ret = p.root;
    return r;
}

int toml_read(const struct root *root, const char *path, struct toml_node **ret, struct problems *problems)
{
    char *bytes;
    size_t n;
    int r = root_read(root, path, &bytes, &n);

    if (r < 0)
        return r;
    r = toml_parse(bytes, n, path, ret, problems);
    free(bytes);
    return r;
}
