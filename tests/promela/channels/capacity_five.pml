// expect: states=8 transitions=12 errors=none
// spin-default: states=8
/* A buffer of five fills and drains. */
chan c = [5] of { byte };
active proctype P() { do :: c!1 :: c?1 :: full(c) -> break od }
