/* A JSON file whose values know where they stand. jansson reads it; the line and the text of a value, which
 * jansson does not keep, are found by a scan over the bytes that it took. */
#ifndef FDFIT_INSPECT_JSON_FILE_H
#define FDFIT_INSPECT_JSON_FILE_H

#include "inspect/problems.h"
#include "inspect/root.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_file {
    char *bytes; /* owned, n bytes and a NUL */
    size_t n;
    json_t
        *json; /* owned; every number is a real one, and json_file_u64 reads it exactly; NULL: blank file */
};

/** One step down: a member of an object by its key, or (key NULL) an element of an array. */
struct json_step {
    const char *key;
    size_t index;
};

/** Where a value stands. */
struct json_place {
    const char *at; /* into json_file.bytes */
    size_t n;
    unsigned line; /* where it begins, from 1 */
};

/** Read the n bytes as JSON (RFC 8259; a byte order mark before it is left out). Takes bytes over, which has
 *  a NUL behind, and frees them when it fails. A file of blanks alone gives json NULL. What is wrong becomes
 * a problem of `path` with its line. Returns 0, -EBADMSG (no JSON) or -ENOMEM. */
int json_file_parse(char *bytes, size_t n, const char *path, struct json_file *ret,
                    struct problems *problems);

/** Read a file below a root. Returns as json_file_parse, or -errno of root_read without a problem. */
int json_file_read(const struct root *root, const char *path, struct json_file *ret,
                   struct problems *problems);
void json_file_deinit(struct json_file *file);

/** Find the value behind `count` steps from the outermost one. Of members with the same key the last counts,
 *  as jansson and Go's encoding/json have it. Returns whether it is there. */
bool json_file_find(const struct json_file *file, const struct json_step *steps, size_t count,
                    struct json_place *ret);

/** The number at a place, exactly as written: digits alone, with a minus sign before them where ret_negative
 *  is not NULL. Returns 0, -EINVAL (something else) or -ERANGE. */
int json_file_u64(const struct json_place *place, uint64_t *ret, bool *ret_negative);

#endif
