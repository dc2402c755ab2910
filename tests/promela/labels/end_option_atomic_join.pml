// quotient: --raw --all --safety => holds, states 9, transitions 10
// quotient: --all --safety => holds, at most 9 states
/* Where the first statement ends an atomic sequence the process stands at a join for a moment; the mark is passed on once more. */
byte y;
active proctype P() { atomic { if :: end: y == 1 :: y == 2 fi }; y == 7 }
active proctype Q() { if :: y = 1 :: y = 2 fi }
