// expect: states=21 transitions=32 errors=none
// spin-default: states=21
/* Braces group statements without making them atomic. */
byte x;
active [2] proctype P() { { x++; x++ }; { skip } }
