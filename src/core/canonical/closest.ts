/** The candidate nearest to a misspelt word, or undefined when none is near. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const plainWord = plain(word);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const plainCandidate = plain(candidate);
    // rootPath, root-path and ROOT_PATH are spellings of root_path, not typos: they count as half an edit.
    const spelled = plainWord === plainCandidate && plainWord !== '' ? 0.5 : Number.POSITIVE_INFINITY;
    const distance = Math.min(edits(word, candidate), edits(plainWord, plainCandidate) + 0.5, spelled);
    if (distance < bestDistance && distance <= allowed(word, candidate)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** One edit, or a third of the letters of longer words. */
function allowed(word: string, candidate: string): number {
  return Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3));
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other (optimal string alignment). */
export function edits(from: string, to: string): number {
  // The cost is quadratic: refuse words longer than any real key.
  if (from.length > 100 || to.length > 100) return from === to ? 0 : Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length] ?? 0;
}
