// quotient: --raw --all --safety => holds, states 195, transitions 408
// quotient: --all --safety => holds, at most 195 states
/* A counting semaphore guarded by atomic waits. */
byte sem = 2, in;
active [3] proctype P() { atomic { sem > 0 -> sem-- }; in++; assert(in <= 2); in--; sem++ }
