// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* Loops inside the options of a choice. */
byte n;
active proctype P() { if :: do :: n < 2 -> n++ :: n == 2 -> break od :: do :: n > 0 -> assert(false) :: n == 0 -> break od fi }
