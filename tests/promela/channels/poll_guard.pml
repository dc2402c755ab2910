// expect: states=22 transitions=23 errors=none
// spin-default: states=22
/* A poll as a guard of a loop with another process. */
chan c = [1] of { bit };
byte waited;
active proctype S() { c!1 }
active proctype R() { do :: c?[1] -> c?1; break :: !(c?[1]) && waited < 2 -> waited++ od }
