// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* The process with the higher priority runs first. */
byte x;
active proctype Low() priority 1 { assert(x == 1); x = 2 }
active proctype High() priority 5 { x = 1 }
