/* Read-copy-update with a reader whose flag may be seen late: the version that it reads is freed.
 */

// quotient: violated race line 41

#define ENTER memory_order_acq_rel
#include "rcu_reader_flag.c"
