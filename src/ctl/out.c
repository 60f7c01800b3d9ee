#include "ctl/out.h"

#include "base/err.h"
#include "base/text.h"

#include <libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the terminal's words (console_codes(4)): to the line's begin, and erase to its end. */
#define WIPE "\r\033[K"

void out_init(struct out *out)
{
    const char *no_color = getenv("NO_COLOR");

    *out = (struct out){
        .colours = isatty(STDOUT_FILENO) && !(no_color && no_color[0]),
        .live = isatty(STDERR_FILENO),
    };
}

static void wipe(struct out *out)
{
    if (out->live_shown)
        fputs(WIPE, stderr);
    out->live_shown = false;
}

/* One write for a line: those of several writers don't mix then. */
static void say(struct out *out, const char *kind, const char *format, va_list list)
{
    char line[4 * TEXT_LINE];

    wipe(out);
    vsnprintf(line, sizeof(line), format, list);
    fprintf(stderr, "%s%s\n", kind, line);
}

void out_error(struct out *out, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(out, "fdfitctl: ", format, list);
    va_end(list);
}

void out_note(struct out *out, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(out, "fdfitctl: note: ", format, list);
    va_end(list);
}

static void failed(struct out *out, int error)
{
    if (out->error == 0)
        out->error = error;
}

void out_print(struct out *out, const char *format, ...)
{
    va_list list;

    wipe(out);
    va_start(list, format);
    if (vprintf(format, list) < 0)
        failed(out, errno);
    va_end(list);
}

void out_live(struct out *out, const char *format, ...)
{
    char line[TEXT_LINE];
    va_list list;

    if (!out->live)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    fprintf(stderr, WIPE "%s", line);
    out->live_shown = true;
}

void out_json(struct out *out, json_t *json)
{
    wipe(out);
    if (!json || json_dumpf(json, stdout, JSON_INDENT(2)) < 0 || putchar('\n') == EOF)
        failed(out, json ? errno : ENOMEM);
    json_decref(json);
}

json_t *out_json_limit(uint64_t value)
{
    return value == UINT64_MAX ? json_string("unlimited") : out_json_u64(value);
}

json_t *out_json_text(const char *text)
{
    json_t *json = json_string(text); /* NULL when it is not UTF-8 */
    char buffer[TEXT_LINE];
    TEXT_ON(escaped, buffer);

    if (json)
        return json;
    text_escaped(&escaped, text, strlen(text));
    return json_string(buffer);
}

json_t *out_json_u64(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

struct out_table {
    struct out *out;
    struct libscols_table *scols;
    size_t columns;
    int rows;
};

static int add_columns(struct libscols_table *scols, const struct out_column *columns, size_t *ret_count)
{
    size_t n = 0;

    for (; columns[n].name; n++) {
        int flags = (columns[n].right ? SCOLS_FL_RIGHT : 0) | (columns[n].tree ? SCOLS_FL_TREE : 0);

        if (!scols_table_new_column(scols, columns[n].name, 0, flags))
            return -ENOMEM;
    }
    *ret_count = n;
    return 0;
}

struct out_table *out_table_new(struct out *out, const struct out_column *columns)
{
    struct out_table *table = calloc(1, sizeof(*table));

    if (table)
        table->scols = scols_new_table();
    if (!table || !table->scols || add_columns(table->scols, columns, &table->columns) < 0) {
        failed(out, ENOMEM);
        if (table)
            scols_unref_table(table->scols);
        free(table);
        return NULL;
    }
    table->out = out;
    scols_table_enable_colors(table->scols, out->colours);
    return table;
}

int out_table_row(struct out_table *table, int parent, bool alarm, const char *const *cells)
{
    struct libscols_line *above = NULL, *line;

    if (!table)
        return -1;
    if (parent >= 0)
        above = scols_table_get_line(table->scols, (size_t)parent);
    line = scols_table_new_line(table->scols, above);
    for (size_t i = 0; line && i < table->columns; i++)
        if (scols_line_set_data(line, i, cells[i]) < 0)
            failed(table->out, ENOMEM);
    if (!line) {
        failed(table->out, ENOMEM);
        return -1;
    }
    if (alarm)
        scols_line_set_color(line, "red");
    return table->rows++;
}

void out_table_print(struct out_table *table)
{
    if (!table)
        return;
    wipe(table->out);
    if (table->rows > 0 && scols_print_table(table->scols) < 0)
        failed(table->out, errno ? errno : EIO);
    scols_unref_table(table->scols);
    free(table);
}

int out_finish(struct out *out)
{
    wipe(out);
    if (fflush(stdout) == EOF)
        failed(out, errno);
    else if (ferror(stdout))
        failed(out, EIO);
    return -out->error;
}
