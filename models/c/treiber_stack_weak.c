/* The stack with a push that releases nothing.
 */

// quotient: violated race line 42

#define PUSHED memory_order_relaxed
#include "treiber_stack.c"
