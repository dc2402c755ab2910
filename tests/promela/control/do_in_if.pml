// expect: states=9 transitions=8 errors=none
// spin-default: states=9
/* Loops inside the options of a choice. */
byte n;
active proctype P() { if :: do :: n < 2 -> n++ :: n == 2 -> break od :: do :: n > 0 -> assert(false) :: n == 0 -> break od fi }
