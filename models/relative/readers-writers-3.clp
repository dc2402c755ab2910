% Readers and writers, 3 processes that may be either. R counts readers, W is 1 while someone writes.
% 1: reading, 2: writing.

p([0,0,0],0,0).

% process 1
p([1,P2,P3],R + 1,W) :- p([0,P2,P3],R,W), W = 0.
p([0,P2,P3],R - 1,W) :- p([1,P2,P3],R,W).
p([2,P2,P3],R,1) :- p([0,P2,P3],R,W), W = 0, R = 0.
p([0,P2,P3],R,0) :- p([2,P2,P3],R,W).

% process 2
p([P1,1,P3],R + 1,W) :- p([P1,0,P3],R,W), W = 0.
p([P1,0,P3],R - 1,W) :- p([P1,1,P3],R,W).
p([P1,2,P3],R,1) :- p([P1,0,P3],R,W), W = 0, R = 0.
p([P1,0,P3],R,0) :- p([P1,2,P3],R,W).

% process 3
p([P1,P2,1],R + 1,W) :- p([P1,P2,0],R,W), W = 0.
p([P1,P2,0],R - 1,W) :- p([P1,P2,1],R,W).
p([P1,P2,2],R,1) :- p([P1,P2,0],R,W), W = 0, R = 0.
p([P1,P2,0],R,0) :- p([P1,P2,2],R,W).

assert swap: symmetric p([P1,P2,P3],R,W) under permutations {(P1),(P2),(P3)}.
assert alone: p([P1,P2,P3],R,W), (P1 = 2, P2 >= 1 ; P1 = 2, P3 >= 1 ; P2 = 2, P1 >= 1 ; P2 = 2, P3 >= 1 ; P3 = 2, P1 >= 1 ; P3 = 2, P2 >= 1) |= false using swap.

% quotient: holds
