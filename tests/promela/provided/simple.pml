// quotient: --raw --all --safety => holds, states 14, transitions 17
// quotient: --all --safety => holds, at most 14 states
/* A process runs only while its provided clause holds. */
bit go; byte x;
active proctype P() provided (go) { x = 1; x = 2 }
active proctype Q() { go = 1; go = 0; go = 1 }
