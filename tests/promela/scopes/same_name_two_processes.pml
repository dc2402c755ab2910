// quotient: --raw --all --safety => holds, states 13, transitions 18
// quotient: --all --safety => holds, at most 13 states
/* Locals of different proctypes are unrelated. */
byte g;
active proctype P() { byte n = 1; n++; g = g + n }
active proctype Q() { byte n = 4; n--; g = g + n }
