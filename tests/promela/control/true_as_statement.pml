// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* true and 1 are executable conditions, like skip. */
active proctype P() { true; 1; (2 > 1); skip }
