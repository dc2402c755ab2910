// quotient: --raw --all --safety => violated index
// why: SPIN reports the index and then goes on with the memory behind the array
/* Only one choice leads to a bad index. */
byte a[2]; byte i;
active proctype P() { if :: i = 1 :: i = 2 fi; a[i] = 4 }
