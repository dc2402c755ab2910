// quotient: --raw --all --safety => holds, states 8, transitions 12
// quotient: --all --safety => holds, at most 8 states
/* A buffer of five fills and drains. */
chan c = [5] of { byte };
active proctype P() { do :: c!1 :: c?1 :: full(c) -> break od }
