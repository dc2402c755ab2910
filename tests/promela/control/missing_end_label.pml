// quotient: --raw --all --safety => violated deadlock, states 4, transitions 3
// quotient: --all --safety => violated deadlock, at most 4 states
/* The same server without the label ends invalidly. */
chan c = [0] of { bit };
active proctype Server() { do :: c?1 od }
active proctype Client() { c!1; c!1 }
