/* Hazard pointers without the fence after the announcement: the node is freed while it is used.
 */

// quotient: violated race line 39

#define ANNOUNCED memory_order_acq_rel
#include "hazard_pointers.c"
