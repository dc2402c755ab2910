// quotient: --raw --all --safety => holds, states 40, transitions 81
// quotient: --all --safety => holds, at most 40 states
/* Each process writes its own cell. */
byte cell[3];
active [3] proctype P() { cell[_pid] = 1; cell[_pid] = 2 }
