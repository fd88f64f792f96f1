import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { startSimulator } from '../../../packages/partner-kit/src/simulate/index.ts';

test('a hotel with a state file continues after a restart', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-book-'));
  const options = { seed: 3, reservations: 30, bookFile: path.join(folder, 'book.json') };
  const plain = (value: unknown) => JSON.stringify(value);

  const first = await startSimulator(options);
  first.hotel.advance(25);
  const left = first.hotel.list();
  const guests = left.map((reservation) => first.hotel.guestsOf(reservation));
  await first.stop();

  const second = await startSimulator(options);
  t.after(async () => {
    await second.stop();
    await rm(folder, { recursive: true, force: true });
  });
  assert.equal(plain(second.hotel.list()), plain(left));
  assert.equal(plain(left.map((reservation) => second.hotel.guestsOf(reservation))), plain(guests));
  const { reservation } = second.hotel.book(3, 2);
  assert.ok(!left.some(({ id }) => id === reservation?.id), 'a new booking has a new number');
});
