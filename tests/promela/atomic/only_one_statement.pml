// expect: states=13 transitions=18 errors=none
// spin-default: states=13
/* An atomic sequence of one statement is that statement. */
byte x;
active [2] proctype P() { atomic { x++ }; atomic { x++ } }
