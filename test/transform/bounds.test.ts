import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Charge, Guest, Reservation } from '../../src/core/canonical/reservation.ts';
import { compileCondition } from '../../src/core/transform/condition.ts';
import { compileExpression } from '../../src/core/transform/expression.ts';
import { limits } from '../../src/core/transform/limits.ts';
import { compileRules } from '../../src/core/transform/rules.ts';
import { ReservationScope } from '../../src/core/transform/views.ts';

/** No test here measures time: an expression that could take too long is refused before it runs. */

const base: Reservation = {
  id: 'R1',
  check_in: '2026-11-01',
  check_out: '2026-11-05',
  status: 'confirmed',
  guests: [],
  rooms: [],
  charges: [],
};
const charges = (count: number): Charge[] => Array.from({ length: count }, () => ({ code: 'c', amount: '1' }));
const guests = (count: number): Guest[] => Array.from({ length: count }, () => ({ first_name: 'Anna' }));

describe('refused when the document is applied', () => {
  const doubling = '.map(a, a + a)';
  const hostile: Readonly<Record<string, string>> = {
    'a pattern from the data': 'channel.matches(source)',
    'a pattern of many instructions': 'channel.matches("(a?){200}(a){200}")',
    'a pattern that repeats repeats': 'channel.matches("((a{30}){30}){30}")',
    'three lists in one another': 'guests.all(g, charges.all(c, rooms.all(r, true)))',
    'three lists, one in the range of another':
      'guests.all(g, charges.all(c, rooms.map(r, r.board).exists(b, b == "")))',
    'a text doubled in a chain': `["ab"]${doubling.repeat(17)}.size() > 0`,
    'a field doubled in a chain': `[channel]${doubling.repeat(7)}.size() > 0`,
    'a list doubled in a chain': `[[channel]]${doubling.repeat(17)}.all(x, x.all(y, y == ""))`,
    'many searches over two lists': `guests.all(g, charges.all(c, ${Array(20).fill('g.email.contains(c.code)').join(' && ')}))`,
    'two lists of patterns': 'guests.all(g, charges.all(c, c.code.matches("^[a-z]+x$")))',
    'brackets in brackets': `${'('.repeat(200)}true${')'.repeat(200)}`,
    'lists in lists': `${'['.repeat(60)}1${']'.repeat(60)}.size() > 0`,
    'minus after minus': `${'-'.repeat(600)}1 > 0`,
    'a long list': `channel in [${Array(300).fill('"a"').join()}]`,
    'many nodes': Array(400).fill('true').join(' && '),
    'many characters': `channel == "${'a'.repeat(limits.expression)}"`,
    bind: 'cel.bind(a, channel + channel, cel.bind(b, a + a, b + b != ""))',
    'JSON out of a text': 'bytes(channel).json().a == 1',
  };
  for (const [name, expression] of Object.entries(hostile)) {
    test(name, () => assert.equal(compileCondition(expression, 'reservation').kind, 'invalid'));
  }
  test('rules over the limit only together', () => {
    const rule = { when: 'guests.exists(g, g.email.matches("^[a-z.]+@example[.]com$"))', set: { source: '"x"' } };
    assert.equal(compileRules([rule, rule, rule]).kind, 'ok');
    const costliest = { ...rule, when: Array(4).fill(rule.when).join(' || ') };
    const many = compileRules([costliest, ...Array(99).fill(rule)]);
    assert.ok(many.kind === 'invalid');
    assert.deepEqual(
      many.problems.map(({ path }) => path),
      ['transforms'],
    );
    assert.match(many.problems[0]?.message ?? '', /the limit is 1,000,000\. transforms\[0\] takes the most/);
  });
  test('more rules than allowed', () => {
    assert.equal(compileRules(Array(limits.rules).fill({ drop: ['channel'] })).kind, 'ok');
    assert.equal(compileRules(Array(limits.rules + 1).fill({ drop: ['channel'] })).kind, 'invalid');
  });
});

describe('accepted: guests compared with each other', () => {
  const comparisons = [
    'guests.exists(g, g.email == guest.email && g.first_name != guest.first_name)',
    'guests.filter(g, g.email.lowerAscii() == guest.email.lowerAscii()).size() > 1',
    'guests.exists(a, guests.exists(b, a.last_name.lowerAscii().trim() == b.last_name.lowerAscii().trim() && a.email != b.email))',
    'guests.exists(a, guests.exists(b, a.email.contains(b.last_name)))',
  ];
  for (const when of comparisons) {
    test(when, () => {
      const rules = compileRules([{ when, drop: ['guests[].marketing_consent'] }]);
      assert.equal(rules.kind, 'ok', JSON.stringify(rules));
    });
  }
});

describe('refused for a particular record', () => {
  const apply = (when: string, record: Partial<Reservation>) => {
    const rules = compileRules([{ when, set: { source: '"x"' } }]);
    assert.equal(rules.kind, 'ok', JSON.stringify(rules));
    return rules.kind === 'ok' ? rules.rules.apply({ ...base, ...record }) : undefined;
  };
  const twoLists = 'guests.exists(g, charges.exists(c, g.first_name == c.description))';

  test('nested loops over long lists', () => {
    const result = apply(twoLists, { guests: guests(3_000), charges: charges(3_000) });
    assert.equal(result?.kind === 'failed' && result.code, 'record.rule_too_costly');
  });
  test('the same rule over short lists', () => {
    assert.equal(apply(twoLists, { guests: guests(90), charges: charges(90) })?.kind, 'kept');
  });
  test('one long list', () => {
    assert.equal(apply('charges.exists(c, c.code == "x")', { charges: charges(5_000) })?.kind, 'kept');
  });
  test('a rule for each charge that iterates over all charges', () => {
    const rules = compileRules([
      { when: 'charges.exists(c, c.code == charge.code)', set: { 'charges[].description': '"x"' } },
    ]);
    assert.equal(rules.kind, 'ok');
    if (rules.kind !== 'ok') return;
    assert.equal(rules.rules.apply({ ...base, charges: charges(50) }).kind, 'kept');
    const result = rules.rules.apply({ ...base, charges: charges(5_000) });
    assert.equal(result.kind === 'failed' && result.code, 'record.rule_too_costly');
  });
  const tooLarge: Readonly<Record<string, readonly [string, Partial<Reservation>]>> = {
    'a long text': ['channel.contains("x")', { channel: 'a'.repeat(limits.text + 1) }],
    'a long text of a guest': [
      'guests.exists(g, g.email == "")',
      { guests: [{ email: 'a'.repeat(limits.itemText + 1) }] },
    ],
    'a text with many parts': ['channel.split(",").size() > 1', { channel: ','.repeat(limits.parts + 1) }],
    'a text that grows when parts are joined': [
      'channel.split(",").join("a long separator, as it were") != ""',
      { channel: ','.repeat(150) },
    ],
    'a text that grows when parts are replaced': [
      'channel.replace("a", "a long replacement") != ""',
      { channel: 'a'.repeat(1_000) },
    ],
    'a long list in extra': ['extra.a == null', { extra: { a: Array(limits.extraEntries + 1).fill(1) } }],
    'a deep structure in extra': ['extra.a == null', { extra: { a: Array(60).fill(Array(60).fill(1)) } }],
    'a long text in extra': ['extra.a == "x"', { extra: { b: { c: 'a'.repeat(limits.text + 1) } } }],
  };
  for (const [name, [when, record]] of Object.entries(tooLarge)) {
    test(name, () => {
      const result = apply(when, record);
      assert.equal(result?.kind === 'failed' && result.code, 'record.rule_too_costly', JSON.stringify(result));
    });
  }
  test('a large field that no rule reads does not matter', () => {
    assert.equal(
      apply('channel == "x"', { source: 'a'.repeat(100_000), extra: { a: Array(10_000).fill(1) } })?.kind,
      'kept',
    );
  });
  test('a filter over a long record', () => {
    const filter = compileCondition(twoLists, 'reservation');
    assert.equal(filter.kind, 'ok');
    if (filter.kind !== 'ok') return;
    const result = filter.test({ ...base, guests: guests(3_000), charges: charges(3_000) });
    assert.equal(result.kind === 'failed' && result.code, 'record.rule_too_costly');
  });
});

/** Valid expressions by construction, over both kinds of list. */
const condition = fc.letrec<{ condition: string; inner: string; text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('channel', '"a"', 'guests.map(x, x.email).join("")', 'g.first_name', 'g.email.trim()'),
    fc.tuple(tie('text'), tie('text')).map(([one, other]) => `(${one} + ${other})`),
  ),
  inner: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(tie('text'), tie('text')).map(([one, other]) => `${one} == ${other}`),
    fc.tuple(tie('text'), tie('text')).map(([one, other]) => `${one}.contains(${other})`),
    tie('text').map((one) => `${one} in charges.map(x, x.code)`),
    fc.constantFrom('true', 'charges.all(c, c.code == g.email)', 'charges.exists(c, c.amount > 0.5 && c.quantity < 3)'),
    fc.tuple(tie('inner'), tie('inner')).map(([one, other]) => `(${one} || ${other})`),
  ),
  condition: fc.oneof(
    tie('inner').map((inner) => `guests.all(g, ${inner})`),
    tie('inner').map((inner) => `guests.filter(g, ${inner}).size() > 1`),
    tie('inner').map((inner) => `guests.exists_one(g, ${inner}) || guests.exists(g, !(${inner}))`),
  ),
})).condition;

test('an expression never reads the record more often than its bound allows steps', () => {
  let ran = 0;
  fc.assert(
    fc.property(condition, fc.integer({ min: 0, max: 12 }), (text, count) => {
      const compiled = compileExpression(text, 'reservation');
      if (compiled.kind === 'invalid') return;
      let reads = 0;
      const counted = <Item extends object>(item: Item): Item =>
        new Proxy(item, {
          get: (target, key) => {
            reads += 1;
            return Reflect.get(target, key);
          },
        });
      const record = { ...base, guests: guests(count).map(counted), charges: charges(count).map(counted) };
      compiled.expression.run(new ReservationScope(record, {}));
      ran += 1;
      assert.ok(reads <= compiled.expression.mostSteps(count), `${reads} reads`);
    }),
    { numRuns: 100 },
  );
  assert.ok(ran > 20, `only ${ran} ran`);
});

test('the bound grows with the record', () => {
  const compiled = compileExpression('guests.all(g, charges.all(c, c.code != g.email))', 'reservation');
  assert.equal(compiled.kind, 'ok');
  if (compiled.kind !== 'ok') return;
  const steps = [1, 10, 100, 1_000].map((items) => compiled.expression.mostSteps(items));
  assert.deepEqual(
    steps,
    steps.toSorted((one, other) => one - other),
  );
  assert.ok((steps[3] ?? 0) > 500_000);
});

/** With backtracking, this would not end. */
test('a pattern that backtracks elsewhere takes linear time', () => {
  const compiled = compileCondition('channel.matches("^(a+)+$")', 'reservation');
  assert.ok(compiled.kind === 'ok', JSON.stringify(compiled));
  const record = { channel: `${'a'.repeat(1_000)}!`, guests: [], rooms: [], charges: [] } as unknown as Reservation;
  assert.deepEqual(compiled.test(record), { kind: 'tested', value: false });
});
