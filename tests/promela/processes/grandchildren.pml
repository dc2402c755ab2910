// quotient: --raw --all --safety => holds, states 20, transitions 23
// quotient: --all --safety => holds, at most 20 states
/* A process starts a process that starts a process. */
byte depth;
proctype G(byte d) { if :: d > 0 -> run G(d - 1) :: else -> depth = 1 fi }
init { run G(3); (depth == 1) }
