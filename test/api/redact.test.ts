import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode, reservation } from './node.ts';

let node: ApiNode;
before(async () => {
  node = await apiNode();
  await node.take('grand', reservation('R1'), { ...(reservation('BAD') as object), check_in: 'someday' });
  const guests = [{ first_name: 'Ana', last_name: 'Prado', email: 'new.address@mail.example' }];
  await node.take('grand', reservation('R1', { guests }));
});
after(() => node.stop());

test('a viewer sees what happened to a record but not the guest; an operator sees both', async () => {
  const viewer = await node.token('viewer');
  const operator = await node.token('operator');
  const letters = (await node.call('GET', '/dead-letters', viewer)).body.items;
  const paths = [
    '/reservations?q=R1',
    '/integrations/grand/reservations/R1',
    `/dead-letters/${letters[0].id}`,
    `/dead-letters/${letters[0].id}/preview`,
    '/guests',
  ];
  for (const path of paths) {
    const masked = JSON.stringify((await node.call('GET', path, viewer)).body);
    assert.ok(!/Prado|Ana|mail\.example/.test(masked), `${path}: ${masked}`);
  }
  const whole = JSON.stringify((await node.call('GET', paths[1] ?? '', operator)).body);
  assert.match(whole, /Prado/);
  assert.match(whole, /new\.address@mail\.example/);
  const story = (await node.call('GET', paths[1] ?? '', viewer)).body;
  assert.equal(story.data.total_amount, 310.5);
  assert.deepEqual(
    story.timeline
      .filter(({ what }: { what: string }) => what === 'received')
      .map((one: { outcome: string }) => one.outcome),
    ['created', 'updated'],
  );
});

test('the answer of a destination may quote the guest: only operators and admins see it', async () => {
  await node.runtime.pool.query(
    `insert into dead_letters (integration, kind, fingerprint, type, id, destination, version, code, message, detail)
     values ('grand', 'delivery', 'lake reservation R1 1', 'reservation', 'R1', 'lake', 1, 'deliver.refused',
             'The destination answered 422.', '{"answer": "Ana Prado is unknown"}')`,
  );
  const [viewer, operator] = [await node.token('viewer'), await node.token('operator')];
  const { items } = (await node.call('GET', '/dead-letters?kind=delivery', viewer)).body;
  for (const path of [`/dead-letters/${items[0].id}`, '/integrations/grand/reservations/R1']) {
    assert.doesNotMatch(JSON.stringify((await node.call('GET', path, viewer)).body), /Prado/, path);
    assert.match(JSON.stringify((await node.call('GET', path, operator)).body), /Ana Prado is unknown/, path);
  }
});
