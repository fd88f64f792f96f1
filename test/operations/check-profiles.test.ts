import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Guest } from '../../src/canonical/reservation.ts';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { drainOnce } from '../../src/deliver/deliveries.ts';
import { type CheckPosition, checkStart, checkStep } from '../../src/operations/check-profiles.ts';
import { previewJob, startJob, stepJobs } from '../../src/operations/jobs.ts';
import { personsAmong } from '../../src/persons/persons-among.ts';
import { aboutProfile } from '../../src/reconcile/profile.ts';
import { transaction } from '../../src/store/db/pool.ts';
import { take } from '../../src/store/records/take.ts';
import type { IntegrationName, Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

const agent = 'agent@travel.example';
const john: Guest = {
  first_name: 'John',
  last_name: 'Smith',
  email: agent,
  date_of_birth: '1970-01-02',
  document_number: 'P1',
};
const mary: Guest = {
  first_name: 'Mary',
  last_name: 'Jones',
  email: agent,
  nationality: 'GB',
  marketing_consent: true,
};

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

const deliver = async () => {
  for (const _ of [1, 2]) {
    await drainOnce(await deliverPorts(node.runtime), { integration: 'grand' as IntegrationName });
  }
};
const stay = { check_in: '2099-12-01', check_out: '2099-12-04' };
const profiles = async (): Promise<Guest[]> => {
  const { rows } = await node.runtime.pool.query<{ data: Guest }>(
    `select data from records where type = 'guest' and integration = 'grand' order by data ->> 'last_name', id`,
  );
  return rows.map(({ data }) => data);
};
const target = () => {
  const found = node.runtime.active().integrations.get('grand');
  if (found === undefined) throw new TypeError('no brand');
  return found;
};

async function check(isPreview: boolean) {
  const changed = [];
  for (let position: CheckPosition | undefined = checkStart; position !== undefined; ) {
    const step = await checkStep(node.runtime, 'grand', position, { isPreview, limit: 2 });
    changed.push(...step.changed);
    position = step.next;
  }
  return changed;
}

/** What earlier rules made of two guests with one address: one profile with the last writer's values over the first one's. */
async function mixProfiles(): Promise<void> {
  for (const id of ['a', 'b']) await node.take('grand', reservation(id, { ...stay, guests: [john as Json] }));
  await node.take('grand', reservation('c', { ...stay, guests: [mary as Json] }));
  await transaction(node.runtime.pool, async (tx) => {
    const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'guest', causeId: 'reservation c' } as const;
    const record = { ...john, ...mary, phone: '+351911111111' };
    await take(tx, target(), [aboutProfile('gst_mixed', arrival, { record })]);
    await tx.query(
      `insert into profile_bookings (integration, reservation_id, profile_id)
       select 'grand', id, 'gst_mixed' from unnest('{a,b,c}'::text[]) as id`,
    );
  });
}

test('a profile that mixes two guests of an agent is separated, and both get their own values', async () => {
  await mixProfiles();
  const preview = await check(true);
  assert.deepEqual(
    preview.map(({ type, id, diff }) => [type, id, diff.map(({ path }) => path).sort()]),
    [['guest', 'gst_mixed', ['date_of_birth', 'document_number']]],
  );
  assert.equal((await profiles())[0]?.document_number, 'P1', 'a preview changes nothing');

  await check(false);
  await deliver();
  assert.deepEqual(await profiles(), [{ ...mary, phone: '+351911111111' }, john]);
  assert.deepEqual(await check(false), [], 'repeating it changes nothing');
});

test('as a job it shows what would change, and changes it', async () => {
  await node.runtime.pool.query(
    `update records set data = jsonb_set(data::jsonb, '{document_number}', '"P1"')::json where type = 'guest' and id = 'gst_mixed'`,
  );
  const request = { operation: 'check_profiles', integration: 'grand' } as const;
  const preview = await previewJob(node.runtime, request);
  assert.deepEqual(
    preview.counts.map(({ count }) => count),
    [0, 1],
  );
  const { job_id } = await startJob(node.runtime, request, 'test');
  while (await stepJobs(node.runtime, new AbortController().signal)) {
    // The next step.
  }
  const { rows } = await node.runtime.pool.query('select state, counts from jobs where job_id = $1', [job_id]);
  assert.deepEqual([rows[0].state, rows[0].counts.changed], ['done', 1]);
  assert.equal((await profiles()).find(({ first_name }) => first_name === 'Mary')?.document_number, undefined);
});

test('a booking that inherited a relative’s values is merged again', async () => {
  const joao = { first_name: 'João', last_name: 'Costa', document_number: 'N1', marketing_consent: true };
  const maria = { first_name: 'Maria', last_name: 'Costa', email: 'maria@guests.example' };
  await node.take('grand', reservation('mixed', { ...stay, guests: [joao] }));
  await node.send('grand', 'reservation.updated', {
    reservation_id: 'mixed',
    ...stay,
    status: 'confirmed',
    guests: [maria],
  });
  // As earlier rules stored it; the sources' own statements are beside it.
  await node.runtime.pool.query(
    `update records set data = jsonb_set(data::jsonb, '{guests,0}', $1)::json where id = 'mixed'`,
    [JSON.stringify({ ...joao, ...maria })],
  );
  const changed = await check(false);
  assert.deepEqual(
    changed.map(({ type, id, diff }) => [type, id, diff.map(({ path }) => path).sort()]),
    [['reservation', 'mixed', ['guests[0].document_number', 'guests[0].marketing_consent']]],
  );
});

test('mentions are grouped by person in every order, and never through one that could be either', () => {
  const mentions = [
    { guest: { first_name: 'John', last_name: 'Smith', email: 'smith@mail.example' }, list: '1' },
    { guest: { first_name: 'Jane', last_name: 'Smith', email: 'smith@mail.example' }, list: '2' },
    { guest: { first_name: 'J.', last_name: 'Smith', email: 'smith@mail.example' }, list: '3' },
    { guest: { first_name: 'John', last_name: 'Smith', phone: '+351911111111' }, list: '4' },
    { guest: { first_name: 'John', last_name: 'Smith', phone: '+351911111111' }, list: '5' },
  ];
  const listsOf = (some: typeof mentions) =>
    personsAmong(some)
      .map((group) => group.map(({ list }) => list).sort())
      .sort();
  const expected = [['1'], ['2'], ['3'], ['4', '5']];
  for (const order of [
    mentions,
    mentions.toReversed(),
    [2, 4, 0, 3, 1].map((i) => mentions[i] as (typeof mentions)[number]),
  ]) {
    assert.deepEqual(listsOf(order), expected);
  }
});
