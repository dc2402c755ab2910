/* Hazard pointers without the fence after the announcement: the node is freed while it is used.
 *
 * expect: race|crash
 * memory: rc11
 */
#define ANNOUNCED memory_order_acq_rel
#include "hazard_pointers.c"
