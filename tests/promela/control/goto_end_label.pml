// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 5 states
/* A jump to the end of the process. */
byte x;
active proctype P() { if :: x = 1; goto fin :: x = 2 fi; x = 3; fin: skip }
