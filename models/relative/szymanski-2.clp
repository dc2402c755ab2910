% Szymanski's algorithm with 2 processes. 8: critical section. Processes wait at 7 for those with
% smaller numbers and at 8 for those with larger ones, so it is not symmetric; the assertions say
% which exchanges of neighbours lead from reachable states to reachable states.

p([0,0],0,0).

% process 1
p([1,P2],1,X2) :- p([0,P2],X1,X2).
p([2,P2],X1,X2) :- p([1,P2],X1,X2), X2 < 3.
p([3,P2],3,X2) :- p([2,P2],X1,X2).
p([4,P2],X1,X2) :- p([3,P2],X1,X2), X2 = 1.
p([5,P2],2,X2) :- p([4,P2],X1,X2).
p([6,P2],X1,X2) :- p([3,P2],X1,X2), X2 <> 1.
p([6,P2],X1,X2) :- p([5,P2],X1,X2), X2 = 4.
p([7,P2],4,X2) :- p([6,P2],X1,X2).
p([8,P2],X1,X2) :- p([7,P2],X1,X2).
p([9,P2],X1,X2) :- p([8,P2],X1,X2), (X2 < 2 ; X2 > 3).
p([0,P2],0,X2) :- p([9,P2],X1,X2).

% process 2
p([P1,1],X1,1) :- p([P1,0],X1,X2).
p([P1,2],X1,X2) :- p([P1,1],X1,X2), X1 < 3.
p([P1,3],X1,3) :- p([P1,2],X1,X2).
p([P1,4],X1,X2) :- p([P1,3],X1,X2), X1 = 1.
p([P1,5],X1,2) :- p([P1,4],X1,X2).
p([P1,6],X1,X2) :- p([P1,3],X1,X2), X1 <> 1.
p([P1,6],X1,X2) :- p([P1,5],X1,X2), X1 = 4.
p([P1,7],X1,4) :- p([P1,6],X1,X2).
p([P1,8],X1,X2) :- p([P1,7],X1,X2), X1 < 2.
p([P1,9],X1,X2) :- p([P1,8],X1,X2).
p([P1,0],X1,0) :- p([P1,9],X1,X2).

assert near: p([8,P2],X1,X2), P2 < 3 |= p([P2,8],X2,X1) using far, past, rest.
assert far: p([8,P2],X1,X2), P2 > 7 |= p([P2,8],X2,X1) using near.
assert past: p([9,P2],X1,X2), P2 <> 7 |= p([P2,9],X2,X1) using near.
assert rest: p([P1,P2],X1,X2), P1 <> 8, P1 <> 9 |= p([P2,P1],X2,X1) using near.
assert in: p([P1,8],X1,X2) |= P1 < 3 ; P1 > 7.
assert out: p([P1,9],X1,X2) |= P1 <> 7.
assert mutex: p([8,8],X1,X2) |= false using near, far, past, rest, in, out.

% quotient: holds
