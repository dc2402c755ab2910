// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* A blocked high priority process lets lower ones run. */
byte x;
active proctype Low() priority 1 { x = 1; x = 2 }
active proctype High() priority 9 { (x == 1); assert(x == 1); x = 7 }
