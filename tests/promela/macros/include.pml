// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* A file included from the same folder. */
#include "shared.h"
active proctype P() { counter = START; bump(counter); assert(counter == 5) }
