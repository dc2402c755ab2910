/* An array element and an index as arguments. */
byte a[3];
inline set(arr, i, v) { arr[i] = v }
active proctype P() { set(a, 1, 7); set(a, a[0], 3); assert(a[0] == 3 && a[1] == 7) }
