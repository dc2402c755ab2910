/* Included by include.pml. */
#define START 4
byte counter;
inline bump(v) { v = v + 1 }
