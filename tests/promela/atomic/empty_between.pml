// expect: states=13 transitions=18 errors=none
// spin-default: states=13
/* Two atomic sequences in a row can be separated. */
byte x;
active [2] proctype P() { atomic { x++; x++ }; atomic { x--; x-- } }
