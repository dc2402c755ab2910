// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* (c -> a : b) chooses without branching. */
byte x = 3, y = 8, m;
active proctype P() { m = (x > y -> x : y); assert(m == 8); m = (x == 3 -> (y == 8 -> 1 : 2) : 3); assert(m == 1) }
