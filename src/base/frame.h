/* A start touches few pages of stack, since each costs a page fault, and a fault costs as much as several
 * system calls. What is seldom called and has a large frame is therefore kept out of its caller's frame. */
#ifndef FDFIT_BASE_FRAME_H
#define FDFIT_BASE_FRAME_H

/** A function with a frame of its own. */
#define OWN_FRAME __attribute__((noinline))

#endif
