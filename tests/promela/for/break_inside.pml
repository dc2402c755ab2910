// quotient: --raw --all --safety => holds, states 15, transitions 14
// quotient: --all --safety => holds, at most 15 states
/* break leaves a for loop. */
byte i;
active proctype P() { for (i : 0 .. 9) { if :: i == 3 -> break :: else fi }; assert(i == 3) }
