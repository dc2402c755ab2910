// quotient: --raw --all --safety => holds, states 1486, transitions 4076
// quotient: --all --safety => holds, at most 654 states
/* SPIN starts the counter of a loop before the whole statement, also where the loop is the escape. */
byte g;
active proctype P() { byte i; g > 2 unless for (i : 1 .. 3) { g++ } }
active proctype Q() { byte i; for (i : 1 .. 2) { g++ } unless select (i : 0 .. 2); g-- }
active proctype R() { byte i; if :: g < 3 -> g++ :: skip fi unless for (i : 0 .. 1) { g++; skip } }
