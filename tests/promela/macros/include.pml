// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A file included from the same folder. */
#include "shared.h"
active proctype P() { counter = START; bump(counter); assert(counter == 5) }
