// expect: states=15 transitions=24 errors=none
// spin-default: states=15
/* The order in which three processes can end. */
active [3] proctype P() { skip }
