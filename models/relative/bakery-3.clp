% Bakery with 3 processes. 0: take a ticket, 1: wait, 2: critical section.
% The ticket is one more than the largest other ticket, as one case for each process that may
% hold it; the await is one atomic step over all others.

p([0,0,0],T1,T2,T3) :- T1 = 0, T2 = 0, T3 = 0.

% process 1
p([1,P2,P3],T1',T2,T3) :- p([0,P2,P3],T1,T2,T3), (T1' = T2 + 1, T3 <= T2 ; T1' = T3 + 1, T2 <= T3).
p([2,P2,P3],T1,T2,T3) :- p([1,P2,P3],T1,T2,T3), (T1 < T2 ; T2 = 0), (T1 < T3 ; T3 = 0).
p([0,P2,P3],T1',T2,T3) :- p([2,P2,P3],T1,T2,T3), T1' = 0.

% process 2
p([P1,1,P3],T1,T2',T3) :- p([P1,0,P3],T1,T2,T3), (T2' = T1 + 1, T3 <= T1 ; T2' = T3 + 1, T1 <= T3).
p([P1,2,P3],T1,T2,T3) :- p([P1,1,P3],T1,T2,T3), (T2 < T1 ; T1 = 0), (T2 < T3 ; T3 = 0).
p([P1,0,P3],T1,T2',T3) :- p([P1,2,P3],T1,T2,T3), T2' = 0.

% process 3
p([P1,P2,1],T1,T2,T3') :- p([P1,P2,0],T1,T2,T3), (T3' = T1 + 1, T2 <= T1 ; T3' = T2 + 1, T1 <= T2).
p([P1,P2,2],T1,T2,T3) :- p([P1,P2,1],T1,T2,T3), (T3 < T1 ; T1 = 0), (T3 < T2 ; T2 = 0).
p([P1,P2,0],T1,T2,T3') :- p([P1,P2,2],T1,T2,T3), T3' = 0.

assert swap: symmetric p([P1,P2,P3],T1,T2,T3) under permutations {(P1,T1),(P2,T2),(P3,T3)}.
assert nonneg: p([P1,P2,P3],T1,T2,T3) |= T1 >= 0, T2 >= 0, T3 >= 0.
assert mutex: p([P1,P2,P3],T1,T2,T3), (P1 = 2, P2 = 2 ; P1 = 2, P3 = 2 ; P2 = 2, P3 = 2) |= false using nonneg, swap.

% quotient: holds
