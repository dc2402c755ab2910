/* The workers of the file scanner count themselves out without the lock.
 *
 * expect: race
 */
#define FORGET_LOCK
#include "file_scanner.c"
