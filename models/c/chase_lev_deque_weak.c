/* The deque with a fence that is too weak: a task is taken by its owner and stolen.
 */

// quotient: violated assertion line 50

#define TAKE_FENCE memory_order_acq_rel
#include "chase_lev_deque.c"
