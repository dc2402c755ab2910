proctype P(int a, int b) { skip }
