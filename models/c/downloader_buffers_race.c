/* The workers of the downloader count what they have received without the lock.
 */
// quotient: violated race line 26

#define FORGET_LOCK
#include "downloader_buffers.c"
