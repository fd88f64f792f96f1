import { firstPass, type Position } from '../../src/core/intake/pull/run/run-state.ts';

/** A run over one window of a week, and the log of its only page. */

export const position: Position = {
  from: '2026-06-02',
  to: '2026-06-08',
  today: '2026-06-01',
  stepDays: 7,
  window: { from: '2026-06-02', to: '2026-06-08' },
  pass: firstPass,
  findings: [],
};

export const pageLog = {
  window: { from: '2026-06-02', to: '2026-06-08' },
  pass: 1,
  durationMs: 1,
  tries: 1,
  waitedMs: 0,
  bytes: 1,
  rows: 3,
  fresh: 3,
  mark: 1,
  fingerprint: 1,
  seen: new Uint8Array(),
};
