// quotient: --raw --all --safety => violated index
// why: SPIN reports the index and then goes on with the memory before the array
/* A negative index. */
byte a[3];
active proctype P() { int i = -1; a[i] = 1 }
