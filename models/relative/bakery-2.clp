% Bakery with 2 processes. 0: take a ticket, 1: wait, 2: critical section.
% The ticket is one more than the largest other ticket, as one case for each process that may
% hold it; the await is one atomic step over all others.

p([0,0],T1,T2) :- T1 = 0, T2 = 0.

% process 1
p([1,P2],T1',T2) :- p([0,P2],T1,T2), T1' = T2 + 1.
p([2,P2],T1,T2) :- p([1,P2],T1,T2), (T1 < T2 ; T2 = 0).
p([0,P2],T1',T2) :- p([2,P2],T1,T2), T1' = 0.

% process 2
p([P1,1],T1,T2') :- p([P1,0],T1,T2), T2' = T1 + 1.
p([P1,2],T1,T2) :- p([P1,1],T1,T2), (T2 < T1 ; T1 = 0).
p([P1,0],T1,T2') :- p([P1,2],T1,T2), T2' = 0.

assert swap: symmetric p([P1,P2],T1,T2) under permutations {(P1,T1),(P2,T2)}.
assert nonneg: p([P1,P2],T1,T2) |= T1 >= 0, T2 >= 0.
assert mutex: p([P1,P2],T1,T2), (P1 = 2, P2 = 2) |= false using nonneg, swap.

% quotient: holds
