/* The queue with a link that releases nothing: the value of a node is read while it is written.
 */

// quotient: violated race line 41

#define LINK memory_order_relaxed
#include "michael_scott_queue.c"
