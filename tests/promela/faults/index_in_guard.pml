// quotient: --raw --all --safety => violated index
// why: SPIN reports the index and then goes on with the memory behind the array
/* A bad index while evaluating a guard. */
byte a[2]; byte i = 5;
active proctype P() { if :: a[i] == 0 -> skip :: else -> skip fi }
