// expect: states=9 transitions=8 errors=none
// spin-default: states=9
/* An inline whose first statement is a guard. */
byte x;
inline when(v, w) { x == v -> x = w }
active proctype P() { do :: when(0, 1) :: when(1, 2) :: when(2, 3) :: x == 3 -> break od }
