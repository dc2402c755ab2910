// quotient: --raw --all --safety => holds, states 13, transitions 21
// quotient: --all --safety => holds, at most 13 states
/* Jumping out of the sequence ends it. */
byte x;
active proctype P() { atomic { x = 1; if :: goto out :: x = 2 fi; x = 3 }; out: x = 4 }
active proctype Q() { assert(x != 2) }
