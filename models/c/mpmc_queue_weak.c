/* The bounded queue in which a filled cell is announced without a release.
 *
 * expect: race
 * memory: rc11
 */
#define FILLED memory_order_relaxed
#include "mpmc_queue.c"
