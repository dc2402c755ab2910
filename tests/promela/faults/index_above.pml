// quotient: --raw --all --safety => violated index
// why: SPIN reports the index and then goes on with the memory behind the array
/* An index one past the end. */
byte a[3];
active proctype P() { byte i = 3; a[i] = 1 }
