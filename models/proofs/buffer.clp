% A buffer with N places, for any N: a producer and a consumer with two semaphores. p([producer, consumer], free places,
% filled places, items in the buffer, N). At 1 the semaphore was taken, at 2 the buffer was changed.
p([0,0],N,0,0,N) :- N >= 1.
p([1,C],F-1,G,I,N) :- p([0,C],F,G,I,N), F >= 1.
p([2,C],F,G,I+1,N) :- p([1,C],F,G,I,N).
p([0,C],F,G+1,I,N) :- p([2,C],F,G,I,N).
p([P,1],F,G-1,I,N) :- p([P,0],F,G,I,N), G >= 1.
p([P,2],F,G,I-1,N) :- p([P,1],F,G,I,N).
p([P,0],F+1,G,I,N) :- p([P,2],F,G,I,N).
assert room: p([1,C],F,G,I,N) |= I < N.
assert item: p([P,1],F,G,I,N) |= I > 0.
assert size: p([P,C],F,G,I,N) |= I >= 0, I <= N.

% quotient: holds
