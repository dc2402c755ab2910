// quotient: --raw --all --safety => violated index
// why: SPIN reports the index and then goes on with the memory behind the array
/* What is printed is computed: an index that is out of bounds there is a fault, too. */
byte a[2]; byte i = 2;
active proctype P() { printf("%d\n", a[i]) }
