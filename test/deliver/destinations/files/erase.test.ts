import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { delivery, reservation } from '../../support.ts';
import { limits, query, setUp } from './support.ts';

test('an erasure removes the guest from older lines, and from nothing else', async (t) => {
  const { root, open } = await setUp(t, { file_size: '1KiB' });
  const ana = { first_name: 'Ana', email: 'ana@guests.example' };
  const rui = { first_name: 'Rui', email: 'rui@guests.example' };
  const exact = '12345678901234567.89';
  const first = open();
  const other = open();
  await first.deliver([delivery(reservation('r', { guests: [ana, rui], total_amount: exact }))], limits);
  await other.deliver([delivery(reservation('r2', { guests: [ana] }))], limits);
  await other.deliver([delivery(reservation('r', { guests: [ana] }), { version: 2 })], limits);
  const gone = {
    ...delivery(reservation('r', { guests: [rui] }), { version: 3, event: 'erased' }),
    erased: [{ email: ana.email }],
  };
  const [outcome] = await first.deliver([gone], limits);
  assert.equal(outcome?.kind, 'delivered');
  // The other node's growing file was rewritten: the node must not write the guest again.
  await other.deliver([delivery(reservation('r3', { guests: [rui] }))], limits);
  const names = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.ndjson'));
  const lines = (await Promise.all(names.map((name) => readFile(path.join(root, name), 'utf8'))))
    .join('')
    .trimEnd()
    .split('\n');
  const of = (id: string) => lines.filter((line) => line.includes(`"id":"${id}"`));
  assert.equal(lines.length, 5);
  assert.ok(of('r').every((line) => !line.includes('ana@guests')));
  assert.ok(of('r').some((line) => line.includes('rui@guests') && line.includes(`"total_amount":${exact}`)));
  assert.ok(of('r2').every((line) => line.includes('ana@guests')));
});

test('Parquet: an erasure rewrites the files that hold the guest, and changes nothing else', async (t) => {
  const { root, open } = await setUp(t, { format: 'parquet', file_size: '1KiB' });
  const ana = { guest_id: 'a', first_name: 'Ana', email: 'ana@guests.example', date_of_birth: '1990-02-03' };
  const extra = { loyalty_number: 'L-77120' };
  const rui = { first_name: 'Rui', email: 'rui@guests.example', marketing_consent: true, extra };
  const exact = '-12345678901234567.89';
  const rich = {
    total_amount: exact,
    guests: [ana, rui],
    extra: { tier: 'gold', nested: { list: [1, 'zwei', null] } },
    charges: [{ code: 'ROOM', amount: '0.000000001', quantity: 2 }, { description: 'Ö' }],
  };
  const first = open();
  const other = open();
  await first.deliver([delivery(reservation('r', rich))], limits);
  await other.deliver([delivery(reservation('r2', { guests: [ana] }))], limits);
  await other.deliver([delivery(reservation('r', { guests: [ana] }), { version: 2 })], limits);
  const profile = delivery(reservation('g'));
  const guest = { ...profile.message, type: 'guest' as const, data: { id: 'g', ...ana } };
  await other.deliver([{ ...profile, message: guest }], limits);
  const columns =
    'r.* exclude (guests), list_transform(guests, x -> x.email) as emails, guest.email as profile, total_amount::varchar as money';
  const read = () =>
    query(`select ${columns} from read_parquet('${root}/**/*.parquet') r order by id, version, idempotency_key`);
  const before = await read();
  const gone = {
    ...delivery(reservation('r', { guests: [rui] }), { version: 3, event: 'erased' }),
    erased: [{ email: ana.email }],
  };
  const forgotten = { ...guest, event: 'erased' as const, version: 2, data: { id: 'g' } };
  const outcomes = await first.deliver([gone, { ...profile, message: forgotten, erased: [ana] }], limits);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['delivered', 'delivered'],
  );
  await other.deliver([delivery(reservation('r3', { guests: [rui] }))], limits);
  const after = await read();
  assert.deepEqual(
    after.map(({ id, version, emails, profile: email }) => [id, version, emails, email]),
    [
      ['g', 1, null, null],
      ['g', 2, null, null],
      ['r', 1, ['rui@guests.example'], null],
      ['r', 2, [], null],
      ['r', 3, ['rui@guests.example'], null],
      ['r2', 1, ['ana@guests.example'], null],
      ['r3', 1, ['rui@guests.example'], null],
    ],
  );
  // All other columns of the older rows are unchanged, to the digit. `extra` is removed: it may repeat guest data.
  const others = (rows: Record<string, unknown>[]) =>
    rows.map(({ emails: _, profile: __, guest: ___, extra: ____, ...rest }) => rest);
  assert.ok(after.every(({ id, extra }) => id !== 'r' || extra === null));
  const older = after.filter(({ id, version }) => id !== 'r3' && version !== 3 && !(id === 'g' && version === 2));
  assert.deepEqual(others(older), others(before));
  assert.ok(before.some(({ money }) => money === `${exact}0000000`));
  const loyal = await query(
    `select distinct guests[1].extra ->> 'loyalty_number' as number from read_parquet('${root}/**/*.parquet') where id in ('r', 'r3') and len(guests) = 1`,
  );
  assert.deepEqual(loyal, [{ number: 'L-77120' }], 'of those who stay');
});

for (const format of ['ndjson', 'parquet'] as const) {
  test(`${format}: an erasure after a restore removes the guest from versions of the earlier epoch`, async (t) => {
    const { root, open } = await setUp(t, { format });
    const destination = open();
    const ana = { first_name: 'Ana', email: 'ana@guests.example' };
    await destination.deliver([delivery(reservation('r', { guests: [ana] }), { version: 7 })], limits);
    const gone = delivery(reservation('r', { guests: [] }), { version: 3, epoch: 2, event: 'erased' });
    assert.deepEqual(await destination.deliver([{ ...gone, erased: [ana] }], limits), [{ kind: 'delivered' }]);
    assert.deepEqual(await filesNaming(root, ana.email), []);
  });
}

for (const format of ['ndjson', 'parquet']) {
  test(`${format}: an erasure removes the guest from rows that hold no address and no full name`, async (t) => {
    const { root, open } = await setUp(t, { format });
    // The destination drops the rest, or the first version did not have it yet.
    const ana = { first_name: 'Ana', document_number: 'X-ANA-1' };
    const rui = { first_name: 'Rui', document_number: 'X-RUI-1' };
    const nameless = { date_of_birth: '1990-02-03', document_number: 'X-NAMELESS-1' };
    const other = { guest_id: 'c', first_name: 'Ana', document_number: 'X-OTHER-ANA-1' };
    const destination = open();
    await destination.deliver([delivery(reservation('r', { guests: [ana, rui, nameless, other, {}] }))], limits);
    const gone = {
      ...delivery(reservation('r', { guests: [{}, rui, {}, other] }), { version: 2, event: 'erased' }),
      erased: [{ guest_id: 'a', first_name: 'Ana', last_name: 'Exemplo', email: 'ana@guests.example' }],
    };
    assert.equal((await destination.deliver([gone], limits))[0]?.kind, 'delivered');
    const source = format === 'parquet' ? 'read_parquet' : 'read_ndjson';
    const guests = format === 'parquet' ? 'guests' : 'data.guests';
    const kept = await query(
      `select list_transform(${guests}, x -> x.document_number) as kept from ${source}('${root}/**/*.${format}') order by version`,
    );
    assert.deepEqual(kept[0], { kept: ['X-RUI-1', 'X-OTHER-ANA-1', null] });
  });
}

test('an erasure of many files continues where the last try ended, in any batch, without using tries', async (t) => {
  const { root, open, list, lines } = await setUp(t);
  const destination = open();
  const ana = { first_name: 'Ana', email: 'ana@guests.example' };
  const days = Array.from({ length: 8 }, (_, day) => Date.UTC(2026, 10, 1 + day));
  for (const changedAt of days) {
    const batch = ['a', 'b'].map((id) => delivery(reservation(id, { guests: [ana] }), { version: changedAt % 997 }));
    await destination.deliver(
      batch.map((one) => ({ ...one, changedAt })),
      limits,
    );
  }
  const gone = ['a', 'b'].map((id) => ({
    ...delivery(reservation(id, { guests: [] }), { version: 1_000, event: 'erased' }),
    erased: [ana],
  }));
  let waiting = gone;
  for (let tries = 0; waiting.length > 0; tries++) {
    assert.ok(tries < 40, 'it makes progress');
    const batch = tries % 3 === 0 ? waiting : waiting.slice(0, 1);
    const outcomes = await destination.deliver(batch, { ...limits, deadlineMs: 1 });
    const isRight = outcomes.every(
      (one) => one.kind === 'delivered' || (one.kind === 'retry' && one.free && one.mayHaveArrived),
    );
    assert.ok(isRight);
    const isDone = (one: (typeof gone)[number]) => outcomes[batch.indexOf(one)]?.kind === 'delivered';
    waiting = waiting.filter((one) => !isDone(one)).map((one) => ({ ...one, mayHaveArrived: true }));
  }
  assert.deepEqual(await filesNaming(root, ana.email), []);
  const last = (await list()).filter((name) => name.startsWith('date=2026-11-15/'));
  assert.equal((await Promise.all(last.map(lines))).flat().length, 2, 'the erasures themselves are written once');
});

test('an erasure also cleans files of the format that the destination had before', async (t) => {
  const { root, open } = await setUp(t);
  const ana = { first_name: 'Ana', email: 'ana@guests.example' };
  await open().deliver([delivery(reservation('r', { guests: [ana] }))], limits);
  const gone = delivery(reservation('r', { guests: [] }), { version: 2, event: 'erased' });
  const outcomes = await open({ format: 'parquet' }).deliver([{ ...gone, erased: [ana] }], limits);
  assert.deepEqual(outcomes, [{ kind: 'delivered' }]);
  assert.deepEqual(await filesNaming(root, ana.email), []);
});

test('an erasure removes the half-written files of killed writers in every folder', async (t) => {
  const { root, open } = await setUp(t);
  const left = path.join(root, 'date=2026-10-01', '.changes_x.ndjson.tmp');
  await mkdir(path.dirname(left), { recursive: true });
  await writeFile(left, '{"guests":[{"email":"ana@guests.example"');
  const hourAgo = Date.now() / 1_000 - 3_600;
  await utimes(left, hourAgo, hourAgo);
  const gone = delivery(reservation('r', { guests: [] }), { version: 2, event: 'erased' });
  assert.deepEqual(await open().deliver([gone], limits), [{ kind: 'delivered' }]);
  assert.deepEqual(await filesNaming(root, 'ana@guests.example'), []);
});

test('an erasure that cannot read a file is not delivered', async (t) => {
  const { root, open, list } = await setUp(t);
  const destination = open();
  await destination.deliver([delivery(reservation('r'))], limits);
  const [written = ''] = (await list()).filter((name) => name.endsWith('.ndjson'));
  // A link that leads to itself is an error of the file system for every user, also for root.
  await rm(path.join(root, written));
  await symlink(path.join(root, written), path.join(root, written));
  const gone = delivery(reservation('r', { guests: [] }), { version: 2, event: 'erased' });
  const [outcome] = await destination.deliver([gone], limits);
  assert.ok(outcome?.kind === 'retry' && outcome.code === 'deliver.write_failed');
});

/** The files under a folder, also hidden ones, that hold a text. */
async function filesNaming(root: string, text: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const contents = await Promise.all(found.map((name) => readFile(name, 'latin1')));
  return found.filter((_, i) => contents[i]?.includes(text));
}
