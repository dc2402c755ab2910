// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* The process with the higher priority runs first. */
byte x;
active proctype Low() priority 1 { assert(x == 1); x = 2 }
active proctype High() priority 5 { x = 1 }
