// expect: states=21 transitions=32 errors=none
// spin-default: states=21
/* Each skip is a step. */
active [2] proctype P() { skip; skip; skip }
