byte grid[3][3];
init { skip }
