% 3 dining philosophers with 2 tickets; F is a fork (1: taken), T the tickets left. 3: eating.
% Exchanging two philosophers is not a symmetry; rotating all of them is.

p([0,0,0],0,0,0,2).

% philosopher 1
p([1,P2,P3],F1,F2,F3,T - 1) :- p([0,P2,P3],F1,F2,F3,T), T >= 1.
p([2,P2,P3],1,F2,F3,T) :- p([1,P2,P3],F1,F2,F3,T), F1 = 0.
p([3,P2,P3],F1,1,F3,T) :- p([2,P2,P3],F1,F2,F3,T), F2 = 0.
p([4,P2,P3],0,F2,F3,T) :- p([3,P2,P3],F1,F2,F3,T).
p([5,P2,P3],F1,0,F3,T) :- p([4,P2,P3],F1,F2,F3,T).
p([0,P2,P3],F1,F2,F3,T + 1) :- p([5,P2,P3],F1,F2,F3,T).

% philosopher 2
p([P1,1,P3],F1,F2,F3,T - 1) :- p([P1,0,P3],F1,F2,F3,T), T >= 1.
p([P1,2,P3],F1,1,F3,T) :- p([P1,1,P3],F1,F2,F3,T), F2 = 0.
p([P1,3,P3],F1,F2,1,T) :- p([P1,2,P3],F1,F2,F3,T), F3 = 0.
p([P1,4,P3],F1,0,F3,T) :- p([P1,3,P3],F1,F2,F3,T).
p([P1,5,P3],F1,F2,0,T) :- p([P1,4,P3],F1,F2,F3,T).
p([P1,0,P3],F1,F2,F3,T + 1) :- p([P1,5,P3],F1,F2,F3,T).

% philosopher 3
p([P1,P2,1],F1,F2,F3,T - 1) :- p([P1,P2,0],F1,F2,F3,T), T >= 1.
p([P1,P2,2],F1,F2,1,T) :- p([P1,P2,1],F1,F2,F3,T), F3 = 0.
p([P1,P2,3],1,F2,F3,T) :- p([P1,P2,2],F1,F2,F3,T), F1 = 0.
p([P1,P2,4],F1,F2,0,T) :- p([P1,P2,3],F1,F2,F3,T).
p([P1,P2,5],0,F2,F3,T) :- p([P1,P2,4],F1,F2,F3,T).
p([P1,P2,0],F1,F2,F3,T + 1) :- p([P1,P2,5],F1,F2,F3,T).

assert turn: symmetric p([P1,P2,P3],F1,F2,F3,T) under rotations {(P1,F1),(P2,F2),(P3,F3)}.
assert half: p([P1,P2,P3],F1,F2,F3,T), (P1 = 3, P2 = 3 ; P1 = 3, P3 = 3 ; P2 = 3, P3 = 3) |= false using turn.

% quotient: holds
