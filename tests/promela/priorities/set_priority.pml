// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* A process lowers its own priority. */
byte x;
active proctype A() priority 4 { x = 1; set_priority(_pid, 1); x = 3 }
active proctype B() priority 2 { assert(x == 1); x = 2; assert(x == 2) }
