import assert from 'node:assert/strict';
import { toReservation } from '../../src/core/canonical/check.ts';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import type { MapConfig, RawRecord, ShapeConfig } from '../../src/core/shape/config.ts';
import { compilePushShape, compileShape, type Shaper } from '../../src/core/shape/shape.ts';
import type { Json } from '../../src/terms.ts';

export type Mapping = Omit<ShapeConfig, 'timezone' | 'unknownStatus'> & Partial<ShapeConfig>;

export function shaperOf(mapping: Mapping, push?: MapConfig): Shaper {
  const config: ShapeConfig = { timezone: 'Europe/Lisbon', unknownStatus: 'dead_letter', ...mapping };
  const compiled = push === undefined ? compileShape(config) : compilePushShape(config, push);
  assert.ok(compiled.kind === 'ok', JSON.stringify(compiled));
  return compiled.shaper;
}

export function recordsOf(shaper: Shaper, body: Json): RawRecord[] {
  const found = shaper.records(body);
  assert.ok(found.kind === 'ok', JSON.stringify(found));
  return found.records;
}

export function reservationOf(shaper: Shaper, raw: RawRecord): Reservation {
  const checked = toReservation(shaper.draft(raw));
  assert.ok(checked.kind === 'ok', JSON.stringify(checked));
  return checked.reservation;
}

/** For tests whose input is exactly one record. */
export function only<Of>(list: readonly Of[]): Of {
  assert.equal(list.length, 1);
  return list[0] as Of;
}

export const stay = { check_in: '2026-05-01', check_out: '2026-05-04', status: 'confirmed' };
