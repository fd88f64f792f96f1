import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { jumpingClock } from './support/clock.ts';
import { pagination, type Style } from './support/list.ts';
import { sync } from './support/runtime.ts';
import { allStyles, answerOf, type Script, scripts, truthOf, week } from './support/scripts.ts';
import { setUpPulls } from './support/set-up.ts';

/**
 * Every partner of the table, in every paging style it can have, over real HTTP into a real store. For all of them, a complete
 * run has stored exactly what the partner holds; any other run has a code with the reason.
 */
const { runtime, partnerOf } = setUpPulls();

for (const script of scripts) {
  suite(`a partner that ${script.name}`, { concurrency: 4 }, () => {
    for (const style of script.styles ?? allStyles) test(`paged by ${style}`, () => play(script, style));
  });
}

let played = 0;

async function play(script: Script, style: Style): Promise<void> {
  played++;
  const integration = `p${played}-${style}`;
  const answering = script.make?.();
  const partner = await partnerOf((asked) => answerOf(script, answering, style, asked));
  try {
    const { connector, pull } = script.documents ?? {};
    const clock = jumpingClock();
    const ports = runtime.ports(
      {
        integration,
        baseUrl: partner.url,
        connector: {
          ...connector,
          pull: {
            ...(connector?.pull as object),
            pagination: { ...pagination[style], ...(script.limit && { page_size: script.limit }) },
          },
        },
        ...(pull && { pull }),
      },
      { clock, limits: { pages: 40, emptyPages: 20, cooldownMs: 60_000 } },
    );
    const result = await sync(ports, integration, week);
    const about = JSON.stringify({ result, requests: partner.requests.map(({ pathQuery }) => pathQuery) });
    assert.equal(result.state, script.ends ?? 'complete', about);
    assert.equal(result.error?.code, script.code, about);
    if (script.says) assert.match(result.error?.message ?? '', script.says);
    if (script.partnerSays) assert.match((await runtime.partnerText(result.runId)) ?? '', script.partnerSays);
    const wanted = typeof script.requests === 'function' ? script.requests(style) : script.requests;
    if (wanted !== undefined) assert.equal(partner.requests.length, wanted, about);
    if (script.waited) assert.ok(script.waited(clock.waits), JSON.stringify(clock.waits));
    assert.equal(result.counters.dead, script.deadLetters ?? 0);
    const { fetched, changed, unchanged, superseded, dropped, skipped, dead } = result.counters;
    assert.equal(fetched, changed + unchanged + superseded + dropped + skipped + dead, about);

    const stored = new Map((await runtime.stored(integration)).map((one) => [one.id, one.data]));
    const truth = truthOf(script, answering).filter(({ check_out }) => check_out !== 'soon');
    if (script.stored === 'none') assert.equal(stored.size, 0, about);
    if (script.stored === 'some') assert.ok(stored.size > 0, about);
    if (script.stored !== undefined) return;
    const missing = truth.filter(({ id }) => !stored.has(id)).map(({ id }) => id);
    assert.deepEqual(missing, [], about);
    for (const { id, total_amount, check_in } of truth) {
      assert.deepEqual([id, stored.get(id)?.total_amount, stored.get(id)?.check_in], [id, total_amount, check_in]);
    }
  } finally {
    await partner.close();
  }
}

test('the table of scripts is complete', () => {
  assert.ok(scripts.length >= 40);
  assert.equal(new Set(scripts.map(({ name }) => name)).size, scripts.length);
});
