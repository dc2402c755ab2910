/* A label inside an inline that is used once. */
byte n;
inline count() { again: n++; if :: n < 3 -> goto again :: else fi }
active proctype P() { count(); assert(n == 3) }
