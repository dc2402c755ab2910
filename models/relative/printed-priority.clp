% Mutual exclusion with priority, with the symmetry as the paper prints it: it is false.

p([0,0],0,0).

% process 1
p([1,P2],1,X2) :- p([0,P2],X1,X2), X2 = 0.
p([2,P2],X1,X2) :- p([1,P2],X1,X2).
p([0,P2],0,X2) :- p([2,P2],X1,X2).

% process 2
p([P1,1],X1,1) :- p([P1,0],X1,X2).
p([P1,2],X1,X2) :- p([P1,1],X1,X2), X1 = 0.
p([P1,0],X1,0) :- p([P1,2],X1,X2).

assert swap: p([P1,P2],X1,X2) |= p([P2,P1],X2,X1).
assert mutex: p([2,2],X1,X2) |= false using swap.

% quotient: violated refuted
