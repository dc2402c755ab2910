// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* The clause may use _pid. */
byte turn;
active [2] proctype P() provided (turn == _pid) { assert(turn == _pid); turn = 1 - turn }
