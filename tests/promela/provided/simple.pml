// expect: states=14 transitions=17 errors=none
// spin-default: states=14
/* A process runs only while its provided clause holds. */
bit go; byte x;
active proctype P() provided (go) { x = 1; x = 2 }
active proctype Q() { go = 1; go = 0; go = 1 }
