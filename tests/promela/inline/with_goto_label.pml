// quotient: --raw --all --safety => holds, states 10, transitions 9
// quotient: --all --safety => holds, at most 10 states
/* A label inside an inline that is used once. */
byte n;
inline count() { skip; again: n++; if :: n < 3 -> goto again :: else fi }
active proctype P() { count(); assert(n == 3) }
