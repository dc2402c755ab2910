// quotient: --raw --all --safety => holds, states 7, transitions 7
// quotient: --all --safety => holds, at most 7 states
/* A process stopped by its clause does not prevent a timeout elsewhere. */
bit go;
active proctype P() provided (go) { skip }
active proctype Q() { timeout -> go = 1 }
