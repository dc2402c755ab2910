/* A range that is empty. */
byte s;
active proctype P() { byte i; for (i : 5 .. 4) { s++ }; assert(s == 0) }
