/* What a suite of unit tests needs beside its cases: the runner. A file is its START_TEST cases and, at its
 * end,
 *
 *     SUITE("num", digits_are_read, overflow_is_refused)
 *
 * Each case runs in a process of its own and is one line of TAP on stdout. */
#ifndef FDFIT_TESTS_UNIT_SUITE_H
#define FDFIT_TESTS_UNIT_SUITE_H

#include "base/text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/** A buffer to build a text in. It holds this word from the start, so that a case can tell "left as it was".
 */
#define UNTOUCHED "untouched"

/** Begin a text that already says UNTOUCHED, for the reterr of a call that should succeed. */
#define TEXT_UNTOUCHED(name, buffer)                                                                         \
    TEXT_ON(name, buffer);                                                                                   \
    text_str(&name, UNTOUCHED)

/** Run n cases. Returns the exit status for main: 0 when none failed. */
static inline int suite_run(const char *name, const TTest *const *cases, size_t n)
{
    Suite *suite = suite_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    for (size_t i = 0; i < n; i++) {
        TCase *one = tcase_create(cases[i]->name);

        tcase_add_test(one, cases[i]);
        suite_add_tcase(suite, one);
    }
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#define SUITE(name, ...)                                                                                     \
    int main(void)                                                                                           \
    {                                                                                                        \
        const TTest *const cases[] = {__VA_ARGS__};                                                          \
                                                                                                             \
        return suite_run(name, cases, COUNT(cases));                                                         \
    }

#endif
