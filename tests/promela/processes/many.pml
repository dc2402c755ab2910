// expect: states=127 transitions=384 errors=none
// spin-default: states=127
/* Six processes of one step each. */
byte n;
active [6] proctype P() { n++ }
