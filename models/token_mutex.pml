/* Mutual exclusion of two processes by a token: the example of Emerson, Jha and Peled, "Combining partial order and symmetry
 * reductions" (TACAS 1997). A process is neutral, tries to enter, and is critical while it holds the token, which it then hands
 * to the other one.
 *
 * The two processes can change places (together with the token), and deciding to enter is independent of everything the other
 * one does. The three graphs, full, up to symmetry, and with partial order as well:
 *
 *   quotient check models/token_mutex.pml --ltl '[] ((count p: process . p@critical) <= 1)' --dot graph.dot --symmetry off --por off
 *   ...                                                                                      --por off
 */
byte token;

active [2] proctype process()
{
neutral:
	true;
trying:
	token == _pid;
critical:
	token = 1 - _pid;
	goto neutral
}

// quotient: holds
