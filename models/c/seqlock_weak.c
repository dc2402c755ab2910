/* The sequence lock without the writer's fence: half of a new version is read as part of the old one.
 *
 * expect: assertion
 * memory: rc11
 */
#define BEGIN_WRITE memory_order_relaxed
#include "seqlock.c"
