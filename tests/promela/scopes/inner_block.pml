// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A variable declared inside braces. */
byte x;
active proctype P() { byte y = 1; { byte z = y + 1; x = z }; assert(x == 2 && y == 1) }
