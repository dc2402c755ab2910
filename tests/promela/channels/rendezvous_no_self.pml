// expect: states=1 transitions=0 errors=deadlock
// spin-default: states=1
/* A process does not shake hands with itself. */
chan c = [0] of { byte };
active proctype P() { byte x; if :: c!1 :: c?x fi }
