// expect: states=12 transitions=11 errors=none
// spin-default: states=6
/* _ can be assigned and holds no state. */
active proctype P() { byte i; do :: i < 3 -> _ = i; i++ :: else -> break od }
