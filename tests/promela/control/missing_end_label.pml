// expect: states=4 transitions=3 errors=deadlock
// spin-default: states=4
/* The same server without the label ends invalidly. */
chan c = [0] of { bit };
active proctype Server() { do :: c?1 od }
active proctype Client() { c!1; c!1 }
