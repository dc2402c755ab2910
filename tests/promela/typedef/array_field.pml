// expect: states=13 transitions=12 errors=none
// spin-default: states=13
/* An array as a field. */
typedef row { byte c[3] };
row r;
active proctype P() { byte i; do :: i < 3 -> r.c[i] = i; i++ :: else -> break od; assert(r.c[2] == 2 && r.c[0] == 0) }
