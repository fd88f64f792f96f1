import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isMeant,
  type QuietHours,
  quietLeftMs,
  type RouteSettings,
  waitMs,
} from '../../src/operator/watch/routes/route.ts';

const night: QuietHours = { from: '22:00', to: '07:00', timezone: 'Europe/Lisbon', severities: ['warning'] };
const hour = 3_600_000;
const left = (quiet: QuietHours, at: string) => quietLeftMs(quiet, Date.parse(at)) / hour;

test('quiet hours that pass midnight end in the morning', () => {
  assert.equal(left(night, '2026-01-10T21:59:00Z'), 0);
  assert.equal(left(night, '2026-01-10T22:00:00Z'), 9);
  assert.equal(left(night, '2026-01-11T06:00:00Z'), 1);
  assert.equal(left(night, '2026-01-11T07:00:00Z'), 0);
});

test('quiet hours within a day', () => {
  const noon = { ...night, from: '12:00', to: '13:30' };
  assert.equal(left(noon, '2026-01-10T11:59:59Z'), 0);
  assert.equal(left(noon, '2026-01-10T12:30:00Z'), 1);
  assert.equal(left(noon, '2026-01-10T13:30:00Z'), 0);
});

test('quiet hours follow the clock of the time zone, also when it changes', () => {
  assert.equal(left(night, '2026-07-10T21:00:00Z'), 9, 'summer time: 22:00 in Lisbon');
  // On 29 March 2026 at 01:00 the clock goes to 02:00.
  assert.equal(left(night, '2026-03-28T22:00:00Z'), 8);
  // On 25 October 2026 at 02:00 it goes back to 01:00.
  assert.equal(left(night, '2026-10-24T21:00:00Z'), 10);
  const tokyo = { ...night, timezone: 'Asia/Tokyo' };
  assert.equal(left(tokyo, '2026-01-10T14:00:00Z'), 8);
});

const chat: RouteSettings = {
  type: 'slack',
  url: 'https://x.example',
  severities: ['warning', 'critical'],
  quiet: night,
};
const pager: RouteSettings = { ...chat, type: 'pagerduty', routing_key: 'k' };

test('warnings wait, critical alerts do not, and closing an incident does not wait', () => {
  const now = Date.parse('2026-01-10T23:00:00Z');
  assert.equal(waitMs(chat, { severity: 'warning' }, 'raised', now), 8 * hour);
  assert.equal(waitMs(chat, { severity: 'warning' }, 'resolved', now), 8 * hour);
  assert.equal(waitMs(chat, { severity: 'critical' }, 'raised', now), 0);
  assert.equal(waitMs(pager, { severity: 'warning' }, 'raised', now), 8 * hour);
  assert.equal(waitMs(pager, { severity: 'warning' }, 'resolved', now), 0);
});

test('a route gets the alerts of its severities and integrations', () => {
  const route = { severities: ['critical' as const], integrations: ['grand'] };
  const alert = { severity: 'critical', integration: 'grand' } as const;
  assert.ok(isMeant(route, alert));
  assert.ok(!isMeant(route, { ...alert, severity: 'warning' }));
  assert.ok(!isMeant(route, { ...alert, integration: 'other' }));
  assert.ok(!isMeant(route, { ...alert, integration: '' }), 'the whole service');
  assert.ok(isMeant({ severities: ['critical'] }, { ...alert, integration: '' }));
  const brands = Array.from({ length: 300 }, (_, i) => `brand-${i}`);
  const shared = { ...alert, integration: '', brands: [...brands, 'grand'] };
  assert.ok(isMeant(route, shared));
  assert.ok(!isMeant({ ...route, integrations: ['third'] }, shared));
  assert.ok(!isMeant(route, { ...shared, brands }));
});
