/* The stack without the count: a node that was popped and pushed again passes for the one that was seen (ABA).
 *
 * expect: assertion
 * memory: rc11
 */
#define COUNTED 0
#include "treiber_stack.c"
