import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guestsOf } from '../../../src/core/deliver/consent.ts';
import type { Pool } from '../../../src/core/store/db/pool.ts';
import { forgetDeliveredErasures } from '../../../src/core/store/erasure/erased.ts';
import { observeDatabase } from '../../simulation/observe.ts';
import { stateText } from '../../simulation/partner.ts';
import { testDatabase } from '../../support/database.ts';
import { checkHistory } from '../check.ts';
import type { Violation } from '../history.ts';
import { NodesStory } from './story.ts';

const { INNBOUND_STORY_SEED = '4', INNBOUND_STORY_SEEDS = '2', INNBOUND_STORY_STEPS = '100' } = process.env;
const first = Number(INNBOUND_STORY_SEED);

for (let seed = first; seed < first + Number(INNBOUND_STORY_SEEDS); seed++) {
  test(`two nodes that are killed and cut off keep every promise (seed ${seed})`, async (t) => {
    const database = await testDatabase();
    const story = await NodesStory.open(seed, database);
    t.after(() => story.close());
    await story.take(Number(INNBOUND_STORY_STEPS));
    await story.finish();
    const steps = story.log.join('\n');
    assert.deepEqual(await violations(story), [], steps);
    assert.deepEqual(subscribed(story), agreed(story), steps);
    assert.deepEqual(await left(story), [], steps);
  });
}

/** As the history checker sees the reservations in the CRM. */
async function violations({ pool, sent, erasures, statements }: NodesStory): Promise<readonly Violation[]> {
  const { fates, versions, settled, runs } = await observeDatabase(pool);
  const known = new Set(statements.map(({ id }) => id));
  const writes = sent.filter(({ destination, message }) => destination === 'crm' && message.type === 'reservation');
  return checkHistory({
    statements,
    fates: fates.filter(({ statement }) => known.has(statement)),
    versions: versions.map((one) => ({ ...one, value: stateText(JSON.parse(one.value)), text: one.value })),
    settled: settled.filter(({ destination }) => destination === 'crm'),
    writes: writes.map(({ destination, message, body, atStep }) => ({
      destination,
      record: `${message.integration}/${message.data.id}`,
      version: message.version,
      key: message.idempotency_key,
      value: stateText(message.data),
      isErasure: message.event === 'erased',
      body,
      startedAtMs: atStep,
    })),
    runs,
    erasures,
    isQuiet: true,
  });
}

const isErased = ({ erasures }: NodesStory, email: string): boolean =>
  erasures.some(({ marks }) => marks.includes(email));

/** The guests whom the newsletter has in the end, by its messages. */
function subscribed(story: NodesStory): string[] {
  const all = new Set<string>();
  for (const { message } of story.sent.filter(({ destination }) => destination === 'news')) {
    for (const { email = '', marketing_consent: agrees } of guestsOf(message.type, message.data)) {
      if (agrees === true) all.add(email);
      if (agrees === false) all.delete(email);
    }
  }
  return [...all].filter((email) => !isErased(story, email)).sort();
}

/** The guests whose newest statement is that they agree. */
function agreed(story: NodesStory): string[] {
  const newest = new Map(story.consents.toSorted((a, b) => a.atMs - b.atMs).map(({ email, value }) => [email, value]));
  return [...newest].flatMap(([email, value]) => (value && !isErased(story, email) ? [email] : [])).sort();
}

/** Work that nobody will do, and tables that hold an erased guest. */
async function left({ pool, erasures }: NodesStory): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(
    `select 'event ' || seq as what from events where state in ('pending', 'waiting', 'hydrate')
     union all select 'lane of ' || destination from outbox where due_at is not null or leased or held_by is not null
     union all select 'run ' || run_id from runs where state in ('queued', 'running')
     union all select 'dead letter ' || code from dead_letters where state = 'open'`,
  );
  await forgetDeliveredErasures(pool);
  const holding = await Promise.all(erasures.flatMap(({ marks }) => marks).map((mark) => tablesWith(pool, mark)));
  return [...rows.map(({ what }) => what), ...holding.flat()];
}

async function tablesWith(pool: Pool, text: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'innbound_service'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(`select from ${name} t where lower(t::text) like $1 limit 1`, [`%${text}%`]);
    if (rowCount) found.push(`${name} holds ${text}`);
  }
  return found;
}
