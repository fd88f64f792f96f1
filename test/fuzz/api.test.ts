import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { apiRoutes } from '../../src/operator/api/api.ts';
import type { Json } from '../../src/terms.ts';
import { apiNode, reservation } from '../api/node.ts';
import { type Dice, fuzz, garbled, mutated, strayErrors } from './fuzz.ts';

/** Every route with damaged parameters and bodies, by callers of every role; documents and samples among them. */

type Schema = { [key: string]: unknown };

/** A value that usually matches the schema. */
function sample(dice: Dice, schema: Schema, depth = 0): Json {
  if (schema.const !== undefined) return schema.const as Json;
  if (Array.isArray(schema.enum)) return dice.one(schema.enum as Json[]);
  const options = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (options) return sample(dice, dice.one(options), depth + 1);
  if (schema.type === 'object' && depth < 6) {
    const wanted = new Set((schema.required as string[] | undefined) ?? []);
    const entries = Object.entries((schema.properties ?? {}) as { [key: string]: Schema });
    return Object.fromEntries(
      entries
        .filter(([key]) => wanted.has(key) || dice.chance(0.5))
        .map(([key, inner]) => [key, sample(dice, inner, depth + 1)]),
    );
  }
  if (schema.type === 'array') return depth < 6 ? [sample(dice, (schema.items ?? {}) as Schema, depth + 1)] : [];
  if (schema.type === 'integer' || schema.type === 'number') return dice.one([1, 2, 50]);
  if (schema.type === 'boolean') return dice.chance(0.5);
  return dice.one(['grand', 'pre_stay', '2026-12-01', 'R1', 'hotel', 'lake', document]);
}

const document = `connector: hotel
pull:
  request: { method: GET, path: /api/reservations, query: { dateFrom: "{window.from}" } }
  pagination: { type: none }
shape: { root_path: reservations }
map: { id: id, guests: { from: guests } }
`;
/** These stream, end the caller's session, or contact other hosts. */
const passedOver = new Set(['live', 'session.end']);

test('no request makes the API answer 5xx or read another brand', { timeout: 900_000 }, async (t) => {
  const stray = strayErrors();
  const node = await apiNode();
  t.after(() => node.stop());
  await node.take('grand', reservation('R1'));
  await node.take('other', reservation('SECRET-OF-OTHER'));
  const routes = apiRoutes(node.api).filter(({ id }) => !passedOver.has(id));
  const bodies = new Map(
    routes.map(({ id, body }) => [
      id,
      body && (z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Schema),
    ]),
  );
  const tokens = await Promise.all([
    node.token('viewer', ['grand']),
    node.token('operator', ['grand']),
    node.token('admin', ['grand']),
    node.token('admin'),
  ]);
  const answers = new Map<number, number>();
  await fuzz(400, async (dice) => {
    const route = dice.one(routes);
    const token = dice.one(tokens);
    const address = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const known = name === 'integration' ? 'grand' : name === 'kind' ? 'connector' : name === 'name' ? 'hotel' : 'R1';
      return encodeURIComponent(dice.chance(0.4) ? String(mutated(dice, known)).toWellFormed() : known);
    });
    const query = dice.chance(0.4)
      ? `?${['q', 'limit', 'cursor', 'integration', 'status']
          .filter(() => dice.chance(0.4))
          .map((key) => `${key}=${encodeURIComponent(String(mutated(dice, '1')).toWellFormed())}`)
          .join('&')}`
      : '';
    const schema = bodies.get(route.id);
    const sound =
      schema && JSON.stringify(dice.chance(0.8) ? mutated(dice, sample(dice, schema)) : sample(dice, schema));
    const body = sound && dice.chance(0.15) ? garbled(dice, sound) : sound;
    const response = await fetch(`${node.url}/api/v1${address}${query}`, {
      method: route.method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
    assert.ok(response.status < 500, `${route.id} ${address}${query} ${body}: ${response.status} ${text}`);
    if (token !== tokens[3]) assert.ok(!text.includes('SECRET-OF-OTHER'), `${route.id} read another brand`);
    assert.deepEqual(stray, []);
  });
  for (const status of [200, 404, 422])
    assert.ok(answers.has(status), `no answer was ${status}: ${JSON.stringify([...answers])}`);
  assert.equal((await node.call('GET', '/overview', tokens[3])).status, 200);
});
