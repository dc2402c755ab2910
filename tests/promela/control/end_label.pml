// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Waiting at an end label is a valid end. */
chan c = [0] of { bit };
active proctype Server() { end: do :: c?1 od }
active proctype Client() { c!1; c!1 }
