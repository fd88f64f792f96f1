import type { Pool } from '../../src/core/store/db/pool.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { issueEndpoint } from '../../src/core/store/events/endpoints.ts';
import { minter, openSealer } from '../intake/push/support.ts';
import { brandNames } from '../simulation/brands.ts';
import type { History } from './history.ts';
import { StoreStory } from './store-story.ts';

/**
 * The dangerous interleavings of nodes and PostgreSQL, one after the other: expired leases, lost answers, batches, pages that are
 * written twice. The simulation meets them by chance and against a model; here they always happen, in SQL.
 */
export async function tellStory(pool: Pool): Promise<History> {
  const endpoints = new Map<string, string>();
  for (const name of brandNames) {
    const { endpointId } = await transaction(pool, (tx) => issueEndpoint(tx, name, openSealer, minter));
    endpoints.set(name, endpointId);
  }
  const story = new StoreStory(pool, endpoints);

  // Several versions of one record in one batch, and a state that is late.
  await story.say('R1', 1, { agoMs: 3_000 });
  await story.say('R1', 2, { agoMs: 2_000 });
  await story.say('R2', 1, { agoMs: 2_000 });
  await story.say('R1', 3, { agoMs: 1_000 });
  await story.say('R1', 4, { agoMs: 60_000 });
  await story.work();
  await story.deliver();

  // A timestamp ahead of its receipt must not win over later messages.
  await story.say('R3', 1, { agoMs: -600_000 });
  await story.work();
  await story.say('R3', 2);
  await story.work();
  await story.deliver();

  // A node freezes with a claim. Another one delivers the version and holds the next; then the first one settles.
  await story.say('R4', 1);
  await story.work();
  const frozen = await story.claim('crm', { isFrozen: true });
  story.send('crm', frozen);
  const again = await story.claim('crm');
  story.send('crm', again);
  await story.settle('crm', again);
  await story.say('R4', 2);
  await story.work();
  const next = await story.claim('crm');
  await story.settle('crm', frozen);
  story.send('crm', next);
  await story.settle('crm', next);

  // A settlement whose answer was lost is repeated, after another node claimed the next version.
  await story.deliver();
  await story.say('R5', 1);
  await story.work();
  const first = await story.claim('crm');
  story.send('crm', first);
  await story.settle('crm', first);
  await story.say('R5', 2);
  await story.work();
  const leased = await story.claim('crm');
  await story.settle('crm', first);
  story.send('crm', leased);
  await story.settle('crm', leased);
  await story.say('R5', 3);
  await story.work();
  await story.deliver();

  // A failed try: the late settlement of the try before it changes nothing.
  await story.say('R6', 1);
  await story.say('R6', 2);
  await story.work();
  const failed = await story.claim('crm');
  await story.settle('crm', failed, 'retry');
  await story.settle('crm', failed);
  await story.deliver();

  // A version arrives while an older one is being sent: no other node may claim the record.
  await story.say('R11', 1);
  await story.work();
  const onItsWay = await story.claim('crm');
  await story.say('R11', 2);
  await story.work();
  await story.deliver();
  story.send('crm', onItsWay);
  await story.settle('crm', onItsWay);
  await story.deliver();

  // A frozen node puts back a record that another node holds by now.
  await story.say('R12', 1);
  await story.say('R12', 2);
  await story.work();
  const lost = await story.claim('crm', { isFrozen: true });
  const ours = await story.claim('crm');
  await story.putBack('crm', lost);
  await story.deliver();
  story.send('crm', ours);
  await story.settle('crm', ours);
  await story.deliver();

  // A refusal whose settlement is repeated, as delivered: the record stays held.
  await story.say('R13', 1);
  await story.work();
  const refused = await story.claim('crm');
  await story.settle('crm', refused, 'dead');
  await story.settle('crm', refused);

  // Events of two brands that arrive together: late ones, and one that is ahead of its receipt.
  await story.arrive([
    { at: 'porto', id: 'R1', amount: 7, agoMs: 4_000 },
    { at: 'lisbon', id: 'R14', amount: 1, agoMs: 1_000 },
    { at: 'porto', id: 'R1', amount: 8, agoMs: 90_000 },
    { at: 'lisbon', id: 'R14', amount: 2, agoMs: 3_000 },
    { at: 'lisbon', id: 'R15', amount: 1, agoMs: -600_000 },
  ]);
  await story.work();
  await story.deliver();
  await story.arrive([{ id: 'R15', amount: 2 }]);
  await story.work();
  await story.deliver();

  // One is still pending when others arrive: it is applied before them, and each keeps its own outcome.
  await story.say('R14', 3);
  await story.arrive([
    { id: 'R16', amount: 1 },
    { id: 'R14', amount: 4 },
  ]);
  await story.work();
  await story.deliver();

  // A worker has read a batch when another event of the brand arrives, and another node looks for work: that event waits for its turn.
  await story.say('R17', 1);
  let isFirst = true;
  await story.work({
    meanwhile: async () => {
      if (!isFirst) return;
      isFirst = false;
      await story.arrive([{ id: 'R18', amount: 1 }]);
      await story.work();
    },
  });
  await story.work();
  await story.deliver();

  // A refusal holds back the later versions of its record only.
  await story.say('R7', 1);
  await story.say('R7', 2);
  await story.say('R8', 1);
  await story.work();
  const claimed = await story.claim('crm');
  await story.settle(
    'crm',
    claimed.filter(({ id }) => id === 'R7'),
    'dead',
  );
  const others = claimed.filter(({ id }) => id !== 'R7');
  story.send('crm', others);
  await story.settle('crm', others);

  // A page whose commit was not answered is written once more.
  const run = await story.startRun();
  const rows = ['R1', 'R2', 'R9'].map((id) => ({ id, amount: 9 }));
  await story.storePage(run, rows);
  await story.storePage(run, rows);
  await story.endRun(run);
  await story.deliver();

  // An erased guest is sent again.
  await story.erased('vera@guests.example');
  await story.say('R10', 1, { email: 'vera@guests.example' });
  await story.arrive([{ at: 'porto', id: 'R10', amount: 1, email: 'vera@guests.example' }]);
  await story.work();
  await story.deliver();
  return story.history();
}
