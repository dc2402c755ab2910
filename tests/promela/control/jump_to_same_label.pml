/* A skip and a jump back: a cycle of one statement. */
active proctype P() { l: skip; goto l }
