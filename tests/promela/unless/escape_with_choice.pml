// quotient: --raw --all --safety => holds, states 39, transitions 54
// quotient: --all --safety => holds, at most 22 states
/* An escape that begins with a choice. */
byte x, e;
active proctype P() { { x = 1; x = 2; x = 3 } unless { if :: e == 1 -> x = 8 :: e == 2 -> x = 9 fi } }
active proctype Q() { e++; e++ }
