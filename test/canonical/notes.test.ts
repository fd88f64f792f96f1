import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteOf, type PackedNote, packedNote, unpackedNote } from '../../src/core/canonical/notes.ts';
import type { Note } from '../../src/terms.ts';

const stored = (note: Note): Note => unpackedNote(JSON.parse(JSON.stringify(packedNote(note))) as PackedNote);

test('a note is stored without what its code tells, and read as it was', () => {
  const usual = noteOf('name_case', 'guests[0].last_name', { before: 'PRADO', after: 'Prado' });
  assert.equal(
    JSON.stringify(packedNote(usual)),
    JSON.stringify(['name_case', 'guests[0].last_name', 'PRADO', 'Prado']),
  );
  const kept: Note = { step: 'reconcile', field: 'channel', code: 'kept_from_pull', reason: 'Kept from the list.' };
  const all = [
    usual,
    noteOf('email_proxy', 'guests[0].email_proxy', { after: true }),
    noteOf('phone_impossible', 'phone', { before: '12' }),
    noteOf('invalid_dropped', 'total_amount', { reason: 'It must be a number.', before: 'a lot' }),
    noteOf('requested_by_id', ''),
    kept,
  ];
  for (const note of all) assert.deepEqual(stored(note), note);
});
