// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* Declarations and statements separated by ; and -> alike, with stray semicolons. */
byte x;;
active proctype P() { x = 1 -> x = 2; x = 3 ; ; assert(x == 3); }
