% Szymanski's algorithm with 3 processes. 8: critical section. Processes wait at 7 for those with
% smaller numbers and at 8 for those with larger ones, so it is not symmetric; the assertions say
% which exchanges of neighbours lead from reachable states to reachable states.

p([0,0,0],0,0,0).

% process 1
p([1,P2,P3],1,X2,X3) :- p([0,P2,P3],X1,X2,X3).
p([2,P2,P3],X1,X2,X3) :- p([1,P2,P3],X1,X2,X3), X2 < 3, X3 < 3.
p([3,P2,P3],3,X2,X3) :- p([2,P2,P3],X1,X2,X3).
p([4,P2,P3],X1,X2,X3) :- p([3,P2,P3],X1,X2,X3), (X2 = 1 ; X3 = 1).
p([5,P2,P3],2,X2,X3) :- p([4,P2,P3],X1,X2,X3).
p([6,P2,P3],X1,X2,X3) :- p([3,P2,P3],X1,X2,X3), X2 <> 1, X3 <> 1.
p([6,P2,P3],X1,X2,X3) :- p([5,P2,P3],X1,X2,X3), (X2 = 4 ; X3 = 4).
p([7,P2,P3],4,X2,X3) :- p([6,P2,P3],X1,X2,X3).
p([8,P2,P3],X1,X2,X3) :- p([7,P2,P3],X1,X2,X3).
p([9,P2,P3],X1,X2,X3) :- p([8,P2,P3],X1,X2,X3), (X2 < 2 ; X2 > 3), (X3 < 2 ; X3 > 3).
p([0,P2,P3],0,X2,X3) :- p([9,P2,P3],X1,X2,X3).

% process 2
p([P1,1,P3],X1,1,X3) :- p([P1,0,P3],X1,X2,X3).
p([P1,2,P3],X1,X2,X3) :- p([P1,1,P3],X1,X2,X3), X1 < 3, X3 < 3.
p([P1,3,P3],X1,3,X3) :- p([P1,2,P3],X1,X2,X3).
p([P1,4,P3],X1,X2,X3) :- p([P1,3,P3],X1,X2,X3), (X1 = 1 ; X3 = 1).
p([P1,5,P3],X1,2,X3) :- p([P1,4,P3],X1,X2,X3).
p([P1,6,P3],X1,X2,X3) :- p([P1,3,P3],X1,X2,X3), X1 <> 1, X3 <> 1.
p([P1,6,P3],X1,X2,X3) :- p([P1,5,P3],X1,X2,X3), (X1 = 4 ; X3 = 4).
p([P1,7,P3],X1,4,X3) :- p([P1,6,P3],X1,X2,X3).
p([P1,8,P3],X1,X2,X3) :- p([P1,7,P3],X1,X2,X3), X1 < 2.
p([P1,9,P3],X1,X2,X3) :- p([P1,8,P3],X1,X2,X3), (X3 < 2 ; X3 > 3).
p([P1,0,P3],X1,0,X3) :- p([P1,9,P3],X1,X2,X3).

% process 3
p([P1,P2,1],X1,X2,1) :- p([P1,P2,0],X1,X2,X3).
p([P1,P2,2],X1,X2,X3) :- p([P1,P2,1],X1,X2,X3), X1 < 3, X2 < 3.
p([P1,P2,3],X1,X2,3) :- p([P1,P2,2],X1,X2,X3).
p([P1,P2,4],X1,X2,X3) :- p([P1,P2,3],X1,X2,X3), (X1 = 1 ; X2 = 1).
p([P1,P2,5],X1,X2,2) :- p([P1,P2,4],X1,X2,X3).
p([P1,P2,6],X1,X2,X3) :- p([P1,P2,3],X1,X2,X3), X1 <> 1, X2 <> 1.
p([P1,P2,6],X1,X2,X3) :- p([P1,P2,5],X1,X2,X3), (X1 = 4 ; X2 = 4).
p([P1,P2,7],X1,X2,4) :- p([P1,P2,6],X1,X2,X3).
p([P1,P2,8],X1,X2,X3) :- p([P1,P2,7],X1,X2,X3), X1 < 2, X2 < 2.
p([P1,P2,9],X1,X2,X3) :- p([P1,P2,8],X1,X2,X3).
p([P1,P2,0],X1,X2,0) :- p([P1,P2,9],X1,X2,X3).

assert pair1: p([P1,P2,P3],X1,X2,X3), not (P1 = 8, P2 in 3..7), not (P1 = 9, P2 = 7) |= p([P2,P1,P3],X2,X1,X3) using pair2.
assert pair2: p([P1,P2,P3],X1,X2,X3), not (P2 = 8, P3 in 3..7), not (P2 = 9, P3 = 7) |= p([P1,P3,P2],X1,X3,X2) using pair1.
assert mutex: p([P1,P2,P3],X1,X2,X3), (P1 = 8, P2 = 8 ; P1 = 8, P3 = 8 ; P2 = 8, P3 = 8) |= false using pair1, pair2.

% quotient: holds
