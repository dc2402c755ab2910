// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A mark on a choice that begins an option is passed on through it. */
chan c = [0] of { byte };
byte y;
active proctype P() { byte x; do :: end: if :: c?x -> x == 9 :: y == 1 -> y == 7 fi od }
active proctype Q() { c!4; y = 1 }
