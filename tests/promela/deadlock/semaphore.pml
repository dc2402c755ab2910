// expect: states=195 transitions=408 errors=none
// spin-default: states=195
/* A counting semaphore guarded by atomic waits. */
byte sem = 2, in;
active [3] proctype P() { atomic { sem > 0 -> sem-- }; in++; assert(in <= 2); in--; sem++ }
