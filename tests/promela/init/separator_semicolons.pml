// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* Declarations and statements separated by ; and -> alike, with stray semicolons. */
byte x;;
active proctype P() { x = 1 -> x = 2; x = 3 ; ; assert(x == 3); }
