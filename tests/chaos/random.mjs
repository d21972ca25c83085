/* Random numbers that a seed repeats (xorshift, 32 bits). */
export function randomFrom(seed) {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < 8; i++) next();
  return {
    next,
    under: (n) => Math.floor(next() * n),
    between: (least, most) => least + next() * (most - least),
    pick: (list) => list[Math.floor(next() * list.length)],
    shuffled: (list) =>
      list
        .map((value) => [next(), value])
        .sort((a, b) => a[0] - b[0])
        .map(([, value]) => value),
  };
}
