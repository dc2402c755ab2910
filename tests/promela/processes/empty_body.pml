/* A process that is over as soon as it has started. */
active [2] proctype P() { }
