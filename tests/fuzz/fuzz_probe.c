/* The smallest target: does this clang have libFuzzer and its sanitizers? */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return n > 0 && bytes[0] == 1 ? 0 : 0;
}
