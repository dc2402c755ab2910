/* The workers of the file scanner count themselves out without the lock.
 */
// quotient: violated race line 62

#define FORGET_LOCK
#include "file_scanner.c"
