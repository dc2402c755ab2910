/* The sequence lock without the writer's fence: half of a new version is read as part of the old one.
 */

// quotient: violated assertion line 34

#define BEGIN_WRITE memory_order_relaxed
#include "seqlock.c"
