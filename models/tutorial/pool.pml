// quotient: holds
// N workers share K tokens.
#ifndef N
#define N 5
#endif
#define K 2
byte free = K, working;

active [N] proctype worker() {
  do
  :: atomic { free > 0 -> free-- };
     working++;
     assert(working <= K);
     working--;
     free++
  od
}
