% Peterson's algorithm with 3 processes: Q is the level a process has reached, V the process that came
% last to a level. Places 3k, 3k+1, 3k+2: set the level, set V, wait; 6: critical section.

p([0,0,0],0,0,0,0,0).

% process 1
p([1,P2,P3],1,Q2,Q3,V1,V2) :- p([0,P2,P3],Q1,Q2,Q3,V1,V2).
p([2,P2,P3],Q1,Q2,Q3,1,V2) :- p([1,P2,P3],Q1,Q2,Q3,V1,V2).
p([3,P2,P3],Q1,Q2,Q3,V1,V2) :- p([2,P2,P3],Q1,Q2,Q3,V1,V2), Q2 < 1, Q3 < 1.
p([3,P2,P3],Q1,Q2,Q3,V1,V2) :- p([2,P2,P3],Q1,Q2,Q3,V1,V2), V1 <> 1.
p([4,P2,P3],2,Q2,Q3,V1,V2) :- p([3,P2,P3],Q1,Q2,Q3,V1,V2).
p([5,P2,P3],Q1,Q2,Q3,V1,1) :- p([4,P2,P3],Q1,Q2,Q3,V1,V2).
p([6,P2,P3],Q1,Q2,Q3,V1,V2) :- p([5,P2,P3],Q1,Q2,Q3,V1,V2), Q2 < 2, Q3 < 2.
p([6,P2,P3],Q1,Q2,Q3,V1,V2) :- p([5,P2,P3],Q1,Q2,Q3,V1,V2), V2 <> 1.
p([0,P2,P3],0,Q2,Q3,V1,V2) :- p([6,P2,P3],Q1,Q2,Q3,V1,V2).

% process 2
p([P1,1,P3],Q1,1,Q3,V1,V2) :- p([P1,0,P3],Q1,Q2,Q3,V1,V2).
p([P1,2,P3],Q1,Q2,Q3,2,V2) :- p([P1,1,P3],Q1,Q2,Q3,V1,V2).
p([P1,3,P3],Q1,Q2,Q3,V1,V2) :- p([P1,2,P3],Q1,Q2,Q3,V1,V2), Q1 < 1, Q3 < 1.
p([P1,3,P3],Q1,Q2,Q3,V1,V2) :- p([P1,2,P3],Q1,Q2,Q3,V1,V2), V1 <> 2.
p([P1,4,P3],Q1,2,Q3,V1,V2) :- p([P1,3,P3],Q1,Q2,Q3,V1,V2).
p([P1,5,P3],Q1,Q2,Q3,V1,2) :- p([P1,4,P3],Q1,Q2,Q3,V1,V2).
p([P1,6,P3],Q1,Q2,Q3,V1,V2) :- p([P1,5,P3],Q1,Q2,Q3,V1,V2), Q1 < 2, Q3 < 2.
p([P1,6,P3],Q1,Q2,Q3,V1,V2) :- p([P1,5,P3],Q1,Q2,Q3,V1,V2), V2 <> 2.
p([P1,0,P3],Q1,0,Q3,V1,V2) :- p([P1,6,P3],Q1,Q2,Q3,V1,V2).

% process 3
p([P1,P2,1],Q1,Q2,1,V1,V2) :- p([P1,P2,0],Q1,Q2,Q3,V1,V2).
p([P1,P2,2],Q1,Q2,Q3,3,V2) :- p([P1,P2,1],Q1,Q2,Q3,V1,V2).
p([P1,P2,3],Q1,Q2,Q3,V1,V2) :- p([P1,P2,2],Q1,Q2,Q3,V1,V2), Q1 < 1, Q2 < 1.
p([P1,P2,3],Q1,Q2,Q3,V1,V2) :- p([P1,P2,2],Q1,Q2,Q3,V1,V2), V1 <> 3.
p([P1,P2,4],Q1,Q2,2,V1,V2) :- p([P1,P2,3],Q1,Q2,Q3,V1,V2).
p([P1,P2,5],Q1,Q2,Q3,V1,3) :- p([P1,P2,4],Q1,Q2,Q3,V1,V2).
p([P1,P2,6],Q1,Q2,Q3,V1,V2) :- p([P1,P2,5],Q1,Q2,Q3,V1,V2), Q1 < 2, Q2 < 2.
p([P1,P2,6],Q1,Q2,Q3,V1,V2) :- p([P1,P2,5],Q1,Q2,Q3,V1,V2), V2 <> 3.
p([P1,P2,0],Q1,Q2,0,V1,V2) :- p([P1,P2,6],Q1,Q2,Q3,V1,V2).

assert swap: symmetric p([P1,P2,P3],Q1,Q2,Q3,V1,V2) under permutations {(P1,Q1),(P2,Q2),(P3,Q3)} with ids V1,V2 from 1.
assert mutex: p([P1,P2,P3],Q1,Q2,Q3,V1,V2), (P1 = 6, P2 = 6 ; P1 = 6, P3 = 6 ; P2 = 6, P3 = 6) |= false using swap.

% quotient: holds
