// expect: states=16 transitions=15 errors=none
// spin-default: states=16
/* A choice nested in a loop. */
byte i, s;
active proctype P() { do :: i < 3 -> i++; if :: i % 2 -> s = s + i :: else -> skip fi :: i == 3 -> break od; assert(s == 4) }
