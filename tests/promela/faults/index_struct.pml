// quotient: --raw --all --safety => violated index
// why: SPIN reports the index and then goes on with the memory behind the array
/* A bad index in a nested structure. */
typedef row { byte c[2] };
row m[2]; byte i = 2;
active proctype P() { m[1].c[i] = 1 }
