// An order in which what is similar stands together: average-linkage clustering whose branches are turned so that similar ends meet.

/** The order of 0..n-1; the same for the same similarities, and 0..n-1 itself when there are none. */
export function seriate(n: number, similarity: (i: number, j: number) => number): number[] {
  const value = (i: number, j: number) => similarity(i, j) || 0; // what is not known is no reason to stand together
  let chains = Array.from({ length: n }, (_, i) => [i]);
  let linkage = chains.map((_, i) => chains.map((_, j) => (i === j ? 0 : value(i, j))));
  while (chains.length > 1) {
    let [a, b] = [0, 1];
    for (let i = 0; i < chains.length; i++)
      for (let j = i + 1; j < chains.length; j++) if (linkage[i][j] > linkage[a][b]) [a, b] = [i, j];
    const [one, two] = [chains[a], chains[b]];
    const merged = linkage[a].map(
      (v, k) => (v * one.length + linkage[b][k] * two.length) / (one.length + two.length), // of all their pairs
    );
    const rest = chains.map((_, k) => k).filter((k) => k !== a && k !== b);
    chains = [joined(one, two, value), ...rest.map((k) => chains[k])];
    linkage = [[0, ...rest.map((k) => merged[k])], ...rest.map((k) => [merged[k], ...rest.map((m) => linkage[k][m])])];
  }
  return chains[0] ?? [];
}

/** Two chains as one, each either way round, so that the most similar ends meet. */
function joined(one: number[], two: number[], value: (i: number, j: number) => number): number[] {
  let best: number[] = [];
  let most = Number.NEGATIVE_INFINITY;
  for (const first of [one, [...one].reverse()])
    for (const second of [two, [...two].reverse()]) {
      const meeting = value(first[first.length - 1], second[0]);
      if (meeting > most) [most, best] = [meeting, [...first, ...second]];
    }
  return best;
}
