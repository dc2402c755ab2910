/* Threads that increment an atomic counter: the C program beside bench/peers/src/bin/with-loom.rs. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef THREADS
#define THREADS 2
#endif
#ifndef TIMES
#define TIMES 1
#endif
atomic_int counter;
void *worker(void *unused) {
#ifdef LOOK
  for (int i = 0; i < TIMES; i++) assert(atomic_fetch_add(&counter, 1) < THREADS * TIMES);
#else
  for (int i = 0; i < TIMES; i++) atomic_fetch_add(&counter, 1);
#endif
  return unused;
}
int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  assert(atomic_load(&counter) == THREADS * TIMES);
  return 0;
}
