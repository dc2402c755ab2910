// expect: states=2 transitions=1 errors=deadlock
// spin-default: states=2
/* A younger blocked process keeps an older one from leaving. */
byte n;
active proctype Old() { n = _nr_pr }
active proctype Young() { false }
