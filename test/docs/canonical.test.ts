import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { canonicalFile, canonicalReference, exampleRecord } from '../../scripts/canonical-reference.ts';
import { chargeSchema, guestSchema, reservationSchema, roomSchema } from '../../src/core/canonical/schema.ts';

test('docs/reference/canonical.md is up to date (scripts/canonical-reference.ts writes it)', () => {
  assert.equal(readFileSync(canonicalFile, 'utf8'), canonicalReference());
});

test('every canonical field has a meaning', () => {
  for (const schema of [reservationSchema, guestSchema, roomSchema, chargeSchema])
    for (const [key, field] of Object.entries(schema.shape)) assert.ok((field.meta()?.description ?? '') !== '', key);
});

test('the example is a valid record whose charges add up', () => {
  const { charges, total_amount } = exampleRecord();
  assert.equal(
    charges.reduce((sum, { amount }) => sum + Number(amount), 0),
    Number(total_amount),
  );
});
