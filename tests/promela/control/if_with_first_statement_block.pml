// expect: states=6 transitions=5 errors=none
// spin-default: states=4
/* An option may begin with a block. */
byte x;
active proctype P() { if :: { x = 1; x = 2 } :: { x = 3 } fi }
