/* The bounded queue in which a filled cell is announced without a release.
 */

// quotient: violated race line 41

#define FILLED memory_order_relaxed
#include "mpmc_queue.c"
