/** One line of the difference between two texts. */
export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
  /** Its line number: in the old text for a line that is gone, else in the new one. */
  readonly at: number;
}

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

/** Longest common subsequence over a full table: documents have a few hundred lines, so quadratic is fast enough. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(fresh.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const row = common[i] as Uint32Array;
      row[j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({ kind: 'same', text: old[i] ?? '', at: j + 1 });
      i++;
      j++;
    } else if (i < old.length && (j === fresh.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'gone', text: old[i] ?? '', at: ++i });
    } else {
      lines.push({ kind: 'new', text: fresh[j] ?? '', at: ++j });
    }
  }
  return lines;
}

/** The changed lines with their surroundings; `skipped` counts the unchanged lines left out before each part. */
export function parts(lines: readonly DiffLine[], around = 3): { skipped: number; lines: DiffLine[] }[] {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some(({ kind }) => kind !== 'same'),
  );
  const blocks: { skipped: number; lines: DiffLine[] }[] = [];
  let skipped = 0;
  lines.forEach((line, i) => {
    if (!near[i]) skipped++;
    else if (i > 0 && near[i - 1]) blocks.at(-1)?.lines.push(line);
    else {
      blocks.push({ skipped, lines: [line] });
      skipped = 0;
    }
  });
  return blocks;
}
