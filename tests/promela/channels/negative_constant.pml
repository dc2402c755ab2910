// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* A negative constant in send and receive. */
chan c = [1] of { int };
active proctype P() { c!-3; if :: c?3 -> assert(false) :: c?-3 -> skip fi }
