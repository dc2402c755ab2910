// quotient: --raw --all --safety => violated division
// why: the verifier SPIN generates is killed by the division
/* Division by a variable that is zero. */
byte x = 4, y;
active proctype P() { x = x / y }
