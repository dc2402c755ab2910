// quotient: --raw --all --safety => violated channel
// why: SPIN refuses the send, because it knows no message type for the variable
/* Sending on a channel variable that was never assigned. */
active proctype P() { chan c; c!1 }
