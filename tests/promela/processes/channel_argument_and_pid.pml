// quotient: --raw --all --safety => holds, states 38, transitions 60
// quotient: --all --safety => holds
// spin: 24 states with its default reductions
// why: starting a process decides process numbers and who may end, so it is not a local step here
/* Children report their pid to the parent. */
proctype C(chan r) { r!_pid }
init { chan r = [2] of { pid }; pid a, b; a = run C(r); b = run C(r); if :: r?eval(a); r?eval(b) :: r?eval(b); r?eval(a) fi }
