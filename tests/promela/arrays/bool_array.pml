// quotient: --raw --all --safety => holds
// why: a bit holds 0 or 1, also in an array; the verifier SPIN generates keeps array cells of type bit in whole bytes
// and stores 2 without truncating it (its simulator truncates)
/* An array of bits. */
bit b[3];
active proctype P() { b[0] = 1; b[1] = b[0] + 1; b[2] = !b[1]; assert(b[0] && !b[1] && b[2]) }
