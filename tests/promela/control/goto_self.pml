/* A jump to its own label: one state, for ever. */
active proctype P() { l: goto l }
