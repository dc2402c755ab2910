/* The deque with a fence that is too weak: a task is taken by its owner and stolen.
 *
 * expect: assertion
 * memory: rc11
 */
#define TAKE_FENCE memory_order_acq_rel
#include "chase_lev_deque.c"
