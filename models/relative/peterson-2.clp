% Peterson's algorithm with 2 processes: Q is the level a process has reached, V the process that came
% last to a level. Places 3k, 3k+1, 3k+2: set the level, set V, wait; 3: critical section.

p([0,0],0,0,0).

% process 1
p([1,P2],1,Q2,V1) :- p([0,P2],Q1,Q2,V1).
p([2,P2],Q1,Q2,1) :- p([1,P2],Q1,Q2,V1).
p([3,P2],Q1,Q2,V1) :- p([2,P2],Q1,Q2,V1), Q2 < 1.
p([3,P2],Q1,Q2,V1) :- p([2,P2],Q1,Q2,V1), V1 <> 1.
p([0,P2],0,Q2,V1) :- p([3,P2],Q1,Q2,V1).

% process 2
p([P1,1],Q1,1,V1) :- p([P1,0],Q1,Q2,V1).
p([P1,2],Q1,Q2,2) :- p([P1,1],Q1,Q2,V1).
p([P1,3],Q1,Q2,V1) :- p([P1,2],Q1,Q2,V1), Q1 < 1.
p([P1,3],Q1,Q2,V1) :- p([P1,2],Q1,Q2,V1), V1 <> 2.
p([P1,0],Q1,0,V1) :- p([P1,3],Q1,Q2,V1).

assert swap: symmetric p([P1,P2],Q1,Q2,V1) under permutations {(P1,Q1),(P2,Q2)} with ids V1 from 1.
assert mutex: p([P1,P2],Q1,Q2,V1), (P1 = 3, P2 = 3) |= false using swap.

% quotient: holds
