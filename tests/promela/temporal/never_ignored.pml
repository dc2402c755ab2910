// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A never claim plays no part in the count. */
bit b;
never { do :: !b :: b -> break od; accept: do :: true od }
active proctype P() { b = 1; b = 0 }
