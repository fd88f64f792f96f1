import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstPass, noCounts, type Position } from '../../../../src/core/intake/pull/run/run-state.ts';
import { progressFigures } from '../../../../src/core/intake/pull/run/sync-once.ts';
import { progressView } from '../../../../src/operator/cli/progress.ts';

const position: Position = {
  from: '2026-03-01',
  to: '2026-03-28',
  today: '2026-03-01',
  stepDays: 7,
  window: { from: '2026-03-15', to: '2026-03-21' },
  pass: { ...firstPass, distinct: 50, total: 100 },
  findings: [],
};
const counters = { ...noCounts, pages: 9, fetched: 1_800 };

test('progress counts days, and rows inside a window with a total', () => {
  const figures = progressFigures(position, counters, 10_000);
  assert.equal(figures.fraction, 17.5 / 28);
  assert.equal(figures.perSecond, 180);
  assert.equal(Math.round(figures.leftMs ?? 0), 6_000);
  const { window: _done, ...done } = position;
  assert.equal(progressFigures(done, counters, 10_000).fraction, 1);
  assert.equal(
    progressFigures({ ...position, window: { from: '2026-03-01', to: '2026-03-07' }, pass: firstPass }, noCounts, 0)
      .leftMs,
    undefined,
  );
});

test('a bar on a terminal, plain lines elsewhere', () => {
  const written: string[] = [];
  let at = 0;
  const view = (isTerminal: boolean) =>
    progressView({ write: (text) => void written.push(text), isTerminal, columns: 120 }, () => at);
  const progress = { kind: 'progress', runId: 'run_1', position, counters } as const;
  const bar = view(true);
  at = 10_000;
  bar.show(progress);
  bar.show(progress);
  bar.done();
  assert.equal(written.length, 2, 'not redrawn at once');
  assert.match(
    written[0] ?? '',
    /^\r.*█+░+ {2}62 % {2}2026-03-15 to 2026-03-21 {2}9 pages, 1,800 records, 180\/s {2}6 s left$/,
  );
  written.length = 0;
  at = 0;
  const lines = view(false);
  lines.show({ ...progress, counters: noCounts });
  lines.show(progress);
  at = 10_000;
  lines.show(progress);
  lines.show({ ...progress, waiting: { reason: 'retry_after', ms: 30_000 } });
  lines.show({ kind: 'busy', runId: 'run_0' });
  lines.done();
  assert.equal(written.length, 4);
  assert.equal(written[0], 'pulling 2026-03-01 to 2026-03-28\n');
  assert.equal(written[1], '62 %  2026-03-15 to 2026-03-21  9 pages, 1,800 records, 180/s  6 s left\n');
  assert.match(written[2] ?? '', /waiting 30 s \(the partner limits requests\)\n$/);
  assert.match(written[3] ?? '', /waiting for run run_0/);
  assert.ok(!written.join('').includes('\r') && !written.join('').includes('\u001b'));
});
