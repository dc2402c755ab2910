// quotient: --raw --all --safety => holds, states 10, transitions 13
// quotient: --all --safety => holds, at most 10 states
/* After the last statement others may run at once. */
byte x;
active proctype P() { atomic { x = 1; x = 2 }; x = 3 }
active proctype Q() { assert(x != 1) }
