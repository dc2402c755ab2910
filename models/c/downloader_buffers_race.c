/* The workers of the downloader count what they have received without the lock.
 *
 * expect: race
 */
#define FORGET_LOCK
#include "downloader_buffers.c"
