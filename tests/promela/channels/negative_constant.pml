// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* A negative constant in send and receive. */
chan c = [1] of { int };
active proctype P() { c!-3; if :: c?3 -> assert(false) :: c?-3 -> skip fi }
