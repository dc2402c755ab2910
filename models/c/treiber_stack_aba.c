/* The stack without the count: a node that was popped and pushed again passes for the one that was seen (ABA).
 */

// quotient: violated assertion line 41

#define COUNTED 0
#include "treiber_stack.c"
