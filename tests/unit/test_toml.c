#include "fixture.h"

#include "base/err.h"
#include "inspect/toml.h"

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct toml_node *parse(const char *text, struct problems *problems)
{
    struct toml_node *root;

    ck_assert_int_eq(toml_parse(text, strlen(text), "/a.toml", &root, problems), 0);
    return root;
}

static struct toml_node *parse_good(const char *text)
{
    struct problems problems = {0};
    struct toml_node *root = parse(text, &problems);

    if (problems.count > 0)
        ck_abort_msg("line %u: %s", problems.at[0].line, problems.at[0].text);
    return root;
}

static void assert_node(const struct toml_node *root, const char *const *keys, enum toml_kind kind,
                        unsigned line, const char *text)
{
    const struct toml_node *node = toml_find(root, keys);

    ck_assert_ptr_nonnull(node);
    ck_assert_int_eq(node->kind, kind);
    ck_assert_uint_eq(node->line, line);
    if (text)
        ck_assert_str_eq(node->text, text);
    else
        ck_assert_ptr_null(node->text);
}

START_TEST(tables_keys_and_values_have_their_lines)
{
    struct toml_node *root =
        parse_good("version = 2 # as of 1.3\r\n\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
                   "  default_runtime_name = \"runc\"\n"
                   "[ plugins . 'io.containerd.grpc.v1.cri'.containerd.runtimes.runc ]#x\n"
                   "\tbase_runtime_spec=\"/etc/a.json\"\n\toptions.SystemdCgroup = true\n"
                   "[plugins]\nx.y = -1.5e3\n");

    assert_node(root, KEYS("version"), TOML_NUMBER, 1, "2");
    assert_node(root, KEYS("plugins", "io.containerd.grpc.v1.cri", "containerd", "default_runtime_name"),
                TOML_STRING, 4, "runc");
    assert_node(
        root,
        KEYS("plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "runc", "base_runtime_spec"),
        TOML_STRING, 6, "/etc/a.json");
    assert_node(root,
                KEYS("plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "runc", "options",
                     "SystemdCgroup"),
                TOML_BOOLEAN, 7, "true");
    assert_node(root, KEYS("plugins", "x", "y"), TOML_NUMBER, 9, "-1.5e3");
    assert_node(root, KEYS("plugins"), TOML_TABLE, 8, NULL);
    ck_assert_ptr_null(toml_find(root, KEYS("plugins", "x", "y", "z")));
    ck_assert_ptr_null(toml_find(root, KEYS("no")));
    toml_free(root);
}
END_TEST

START_TEST(strings_of_the_four_kinds)
{
    struct toml_node *root = parse_good("a = \"\\\"\\\\\\t\\u00e9\\U0001F600\\x41 # no comment\"\n"
                                        "b = 'C:\\n\"'\n"
                                        "c = \"\"\"\nx\"\"y \\\n   \n   z\\\"\"\"\"\"\n"
                                        "d = '''\r\n\\n'\n'''''\n"
                                        "e = \"\"\nf = ''\n\"g\\u0020h\" = 1\n");

    assert_node(root, KEYS("a"), TOML_STRING, 1,
                "\"\\\t\xc3\xa9\xf0\x9f\x98\x80"
                "A # no comment");
    assert_node(root, KEYS("b"), TOML_STRING, 2, "C:\\n\"");
    assert_node(root, KEYS("c"), TOML_STRING, 3, "x\"\"y z\"\"");
    assert_node(root, KEYS("d"), TOML_STRING, 7, "\\n'\n''");
    assert_node(root, KEYS("e"), TOML_STRING, 10, "");
    assert_node(root, KEYS("f"), TOML_STRING, 11, "");
    assert_node(root, KEYS("g h"), TOML_NUMBER, 12, "1");
    toml_free(root);
}
END_TEST

START_TEST(arrays_over_several_lines)
{
    struct toml_node *root = parse_good("default_ulimits = [\n  # the first\n \"nofile=1024:2048\", # one\n"
                                        "\n 'nproc=1'\n , {append=true}, [ [1,2,], [] ]\n]\nnext = 1\n");
    const struct toml_node *array = toml_member(root, "default_ulimits"), *element = array->first;

    ck_assert_int_eq(array->kind, TOML_ARRAY);
    ck_assert_str_eq(element->text, "nofile=1024:2048");
    ck_assert_uint_eq(element->line, 3);
    element = element->next;
    ck_assert_str_eq(element->text, "nproc=1");
    ck_assert_uint_eq(element->line, 5);
    element = element->next;
    assert_node(element, KEYS("append"), TOML_BOOLEAN, 6, "true");
    element = element->next;
    ck_assert_str_eq(element->first->last->text, "2");
    ck_assert_ptr_null(element->last->first);
    ck_assert_ptr_null(element->next);
    assert_node(root, KEYS("next"), TOML_NUMBER, 8, "1");
    toml_free(root);
}
END_TEST

START_TEST(arrays_of_tables)
{
    struct toml_node *root = parse_good("[[a.b]]\nx = 1\n[a.b.c]\ny = 2\n[[a.b]]\nx = 3\n[d]\nx = 4\n");
    const struct toml_node *b = toml_find(root, KEYS("a", "b"));

    assert_node(b->first, KEYS("x"), TOML_NUMBER, 2, "1");
    assert_node(b->first, KEYS("c", "y"), TOML_NUMBER, 4, "2");
    assert_node(b->last, KEYS("x"), TOML_NUMBER, 6, "3");
    ck_assert_ptr_null(toml_member(b->last, "c"));
    assert_node(root, KEYS("d", "x"), TOML_NUMBER, 8, "4");
    toml_free(root);
}
END_TEST

START_TEST(a_bad_line_is_a_problem_and_the_rest_is_read)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"a", "no TOML: no = behind a key"},
        {"= 1", "no TOML: no key where one belongs"},
        {"a =", "no TOML: no value where one belongs"},
        {"a = yes", "no TOML: a value without quotation marks"},
        {"a = 1 2", "no TOML: something behind the value"},
        {"a = \"x", "no TOML: a string without its end"},
        {"a = 'x", "no TOML: a string without its end"},
        {"a = \"\\q\"", "no TOML: a bad escape in a string"},
        {"a = \"\\u00g0\"", "no TOML: a bad escape in a string"},
        {"a = \"\\u0000\"", "no TOML: an escape that is no character"},
        {"a = \"\\ud800\"", "no TOML: an escape that is no character"},
        {"a = \"\x1b\"", "no TOML: a control character in a string"},
        {"a = [1, 2", "no TOML: an array without its end"},
        {"a = {b = 1", "no TOML: a table without its end"},
        {"[a", "no TOML: a header without its end"},
        {"[[a]", "no TOML: a header without its end"},
        {"[first.x]", "no TOML: a key below one that is no table"},
        {"[[first]]", "no TOML: a table in what is no array of tables"},
        {"first = 2", "no TOML: a key for the second time"},
        {"[t]\n[t]", "no TOML: a table for the second time"},
        {"\"\"\"a\"\"\" = 1", "no TOML: a key of several lines"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct problems problems = {0};
        struct toml_node *root;
        char text[256];

        snprintf(text, sizeof(text), "first = 1\n%s\n[last]\nx = 3\n", cases[i].line);
        root = parse(text, &problems);
        if (problems.count == 0)
            ck_abort_msg("no problem: %s", cases[i].line);
        ck_assert_str_eq(problems.at[0].text, cases[i].why);
        ck_assert_str_eq(problems.at[0].file, "/a.toml");
        ck_assert_uint_ge(problems.at[0].line, 2);
        ck_assert_uint_le(problems.at[0].line, 3);
        ck_assert_str_eq(toml_member(root, "first")->text, "1");
        ck_assert_str_eq(toml_find(root, KEYS("last", "x"))->text, "3");
        problems_deinit(&problems);
        toml_free(root);
    }
}
END_TEST

START_TEST(what_stands_below_a_bad_header_is_nobodys)
{
    struct problems problems = {0};
    struct toml_node *root = parse("[a]\nx = 1\n[b\ny = [\n2\n]\n[c]\nz = 3\n", &problems);

    ck_assert_uint_eq(problems.count, 1);
    ck_assert_uint_eq(problems.at[0].line, 3);
    ck_assert_ptr_null(toml_find(root, KEYS("a", "y")));
    assert_node(root, KEYS("c", "z"), TOML_NUMBER, 8, "3");
    problems_deinit(&problems);
    toml_free(root);
}
END_TEST

START_TEST(bytes_that_are_no_utf8)
{
    struct problems problems = {0};
    struct toml_node *root = parse("a = 1\nb = \"\xff\" # \xc3\nc = 3\n", &problems);

    ck_assert_uint_eq(problems.count, 1);
    ck_assert_uint_eq(problems.at[0].line, 2);
    assert_node(root, KEYS("b"), TOML_STRING, 2, "\xff");
    assert_node(root, KEYS("c"), TOML_NUMBER, 3, "3");
    problems_deinit(&problems);
    toml_free(root);
}
END_TEST

/* Files that are made to hurt: all is bounded. */
START_TEST(giant_files)
{
    static const char *const pieces[] = {"[", "a=[", "a=\"\"\"\n", "x\n", "[a.", "a={", "k=1\n", "'"};
    const size_t n = ROOT_FILE_MAX;
    char *text = malloc(n);

    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct problems problems = {0};
        struct toml_node *root;

        for (size_t at = 0; at < n; at++)
            text[at] = pieces[i][at % strlen(pieces[i])];
        ck_assert_int_eq(toml_parse(text, n, "/a.toml", &root, &problems), 0);
        ck_assert_uint_ge(problems.count, 1);
        ck_assert_uint_le(problems.count, 21);
        problems_deinit(&problems);
        toml_free(root);
    }
    free(text);
}
END_TEST

START_TEST(the_number_of_values_is_bounded)
{
    struct problems problems = {0};
    struct toml_node *root;
    char *text = calloc(12000, 16);

    for (size_t i = 0, n = 0; i < 12000; i++)
        n += (size_t)sprintf(text + n, "k%zu = 1\n", i);
    root = parse(text, &problems);
    ck_assert_uint_eq(problems.count, 1);
    ck_assert_uint_eq(problems.at[0].line, 10001);
    assert_node(root, KEYS("k9999"), TOML_NUMBER, 10000, "1");
    ck_assert_ptr_null(toml_member(root, "k10000"));
    problems_deinit(&problems);
    toml_free(root);
    free(text);
}
END_TEST

START_TEST(a_file)
{
    struct problems problems = {0};
    struct toml_node *root;
    struct fixture f;

    setup(&f);
    put_text(&f, "/etc/a.toml",
             "\xef\xbb\xbf"
             "a = 1");
    ck_assert_int_eq(toml_read(&f.root, "/etc/a.toml", &root, &problems), 0);
    assert_node(root, KEYS("a"), TOML_NUMBER, 1, "1");
    toml_free(root);
    ck_assert_int_eq(toml_read(&f.root, "/etc/no", &root, &problems), -ENOENT);
    ck_assert_uint_eq(problems.count, 0);
    teardown(&f);
}
END_TEST

SUITE("toml", tables_keys_and_values_have_their_lines, strings_of_the_four_kinds, arrays_over_several_lines,
      arrays_of_tables, a_bad_line_is_a_problem_and_the_rest_is_read,
      what_stands_below_a_bad_header_is_nobodys, bytes_that_are_no_utf8, giant_files,
      the_number_of_values_is_bounded, a_file)
