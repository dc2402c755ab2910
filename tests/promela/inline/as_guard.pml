// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* An inline whose first statement is a guard. */
byte x;
inline when(v, w) { x == v -> x = w }
active proctype P() { do :: when(0, 1) :: when(1, 2) :: when(2, 3) :: x == 3 -> break od }
