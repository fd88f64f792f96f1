import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { guestSchema } from '../../src/core/canonical/schema.ts';
import { normalizeGuest } from '../../src/core/normalize/normalize.ts';

interface Case {
  readonly case: string;
  readonly guest: Guest;
  readonly country?: string;
  readonly becomes: Guest;
  /** Codes of the notes, in their order. */
  readonly notes: readonly string[];
}

for (const field of ['phones', 'emails', 'names', 'ids']) {
  describe(field, () => {
    const file = new URL(`cases/${field}.json`, import.meta.url);
    for (const golden of JSON.parse(readFileSync(file, 'utf8')) as Case[]) {
      test(golden.case, () => {
        const context = golden.country === undefined ? {} : { country: golden.country };
        const { guest, notes } = normalizeGuest(golden.guest, context);
        // Compared as text: the order of keys is guaranteed.
        assert.equal(JSON.stringify(guest), JSON.stringify(golden.becomes));
        assert.deepEqual(
          notes.map(({ code }) => code),
          golden.notes,
        );
        assert.equal(guest === golden.guest, golden.notes.length === 0);
        assert.ok(
          notes.every(
            ({ step, field: path, reason }) => step === 'normalize' && path in guestSchema.shape && reason !== '',
          ),
        );
        assert.ok(notes.every(({ before, after }) => before !== after));
        assert.ok(guestSchema.safeParse(guest).success);
        const again = normalizeGuest(guest, context);
        assert.equal(again.guest, guest, `changed again: ${JSON.stringify(again.notes)}`);
      });
    }
  });
}
