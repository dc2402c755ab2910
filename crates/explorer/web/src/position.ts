// Positions as the server prints them: `q1:0*3.1.0+2`, behind `@` a checksum. See explain/src/position.rs.

export function parse(text: string): string[] {
  const body = text.replace(/^q1:/, "").split("@")[0];
  const moves: string[] = [];
  if (body === "") return moves;
  for (const part of body.split(".")) {
    const [move, count] = part.split("*");
    for (let i = 0; i < (count ? Number(count) : 1) && moves.length < 1_000_000; i++) moves.push(move);
  }
  return moves;
}

export function print(moves: string[]): string {
  const parts: string[] = [];
  for (let i = 0; i < moves.length; ) {
    let end = i + 1;
    while (end < moves.length && moves[end] === moves[i]) end++;
    parts.push(end - i > 1 ? `${moves[i]}*${end - i}` : moves[i]);
    i = end;
  }
  return "q1:" + parts.join(".");
}
