/* The stack with a push that releases nothing.
 *
 * expect: race
 * memory: rc11
 */
#define PUSHED memory_order_relaxed
#include "treiber_stack.c"
