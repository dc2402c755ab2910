// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* A never claim plays no part in the count. */
bit b;
never { do :: !b :: b -> break od; accept: do :: true od }
active proctype P() { b = 1; b = 0 }
