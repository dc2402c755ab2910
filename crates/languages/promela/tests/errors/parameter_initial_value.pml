proctype P(byte a = 1; b) { skip }
proctype Q(b) { skip }
