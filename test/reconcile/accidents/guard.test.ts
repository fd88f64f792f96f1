import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../../../src/core/canonical/reservation.ts';
import { countBatch, type Guard } from '../../../src/core/reconcile/accidents/guard.ts';
import { decideBatch } from '../../../src/core/store/records/ingest.ts';
import { said, testBrand } from '../../support/brand.ts';

const brand = testBrand('lisbon', { reservation: [] });
const limits = { rows: 5, share: 0.5 };

const statements = (run: string, effectiveAt: number, status: Reservation['status']) =>
  Array.from({ length: 20 }, (_, n) => {
    const days = { check_in: `2026-03-${10 + n}`, check_out: `2026-03-${11 + n}` } as const;
    const booking = { id: `R${n}`, status, ...days, guests: [], rooms: [], charges: [] } as Reservation;
    return said(booking, { cause: 'run', causeId: run, mode: 'pull', effectiveAt });
  });

test('what a run stored first may end in the same run: a queue of cancellations follows that of bookings', () => {
  for (const [run, isCounted] of [
    ['first', false],
    ['next', true],
  ] as const) {
    const guard: Guard = { limits, memory: new Map() };
    const created = decideBatch(brand, new Map(), statements('first', 1_000, 'confirmed'));
    assert.equal(countBatch(guard, created.steps, { unchanged: 0 }), undefined);
    const ended = decideBatch(brand, created.rows, statements(run, 2_000, 'cancelled'));
    assert.equal(countBatch(guard, ended.steps, { unchanged: 0 }) !== undefined, isCounted, run);
  }
});
