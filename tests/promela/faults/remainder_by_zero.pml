// quotient: --raw --all --safety => violated division
// why: the verifier SPIN generates is killed by the division
/* Remainder by a variable that is zero on one path. */
byte x = 4, y;
active proctype P() { if :: y = 2 :: skip fi; x = x % y }
