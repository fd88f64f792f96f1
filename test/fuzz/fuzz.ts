/**
 * Seeded random input. In the suite each file runs a fixed number of rounds. For longer:
 *
 *   INNBOUND_FUZZ_SECONDS=600 node --test test/fuzz/        ten minutes for each file, from a seed of the clock
 *   INNBOUND_FUZZ_SEED=17 node --test test/fuzz/api.test.ts   the round that failed, first
 */
import { Random } from '../../packages/partner-kit/src/simulate/random.ts';
import type { Json, JsonObject } from '../../src/terms.ts';

export interface Dice {
  /** From 0 up to, but not including, n. */
  below(n: number): number;
  one<T>(of: readonly T[]): T;
  chance(share: number): boolean;
}

function diceOf(seed: number): Dice {
  const random = new Random(seed);
  const below = (n: number) => Math.floor(random.next() * n);
  return { below, one: <T>(of: readonly T[]) => of[below(of.length)] as T, chance: (share) => random.next() < share };
}

const seconds = Number(process.env.INNBOUND_FUZZ_SECONDS ?? 0);
const firstSeed = Number(process.env.INNBOUND_FUZZ_SEED ?? (seconds > 0 ? Date.now() % 1_000_000_000 : 1));

/** Calls `round` with the dice of one seed after the other. A failure names its seed. */
export async function fuzz(rounds: number, round: (dice: Dice, seed: number) => Promise<void>): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (let seed = firstSeed; seconds > 0 ? Date.now() < end : seed < firstSeed + rounds; seed++) {
    try {
      await round(diceOf(seed), seed);
    } catch (error) {
      throw new Error(`seed ${seed} failed; repeat it with INNBOUND_FUZZ_SEED=${seed}`, { cause: error });
    }
  }
}

/** While a test file runs, the process must not end on a stray error, which would hide its seed. */
export function strayErrors(): unknown[] {
  const seen: unknown[] = [];
  process.on('uncaughtException', (error) => seen.push(error));
  process.on('unhandledRejection', (error) => seen.push(error));
  return seen;
}

const texts = [
  '',
  ' ',
  '\0',
  '\u202e',
  '\ud800',
  '😀'.repeat(50),
  '__proto__',
  'constructor',
  'toString',
  '../..',
  '..',
  '%00',
  '%2e%2e%2f',
  "' or 1=1 --",
  `$${'{env:HOME}'}`,
  '{{7*7}}',
  '{window.from}',
  '<script>alert(1)</script>',
  '\r\nset-cookie: a=b',
  '\u001b[31m',
  '9'.repeat(400),
  'a'.repeat(9_000),
  '2026-02-30',
  '0000-00-00',
  '+275760-09-13T00:00:00Z',
  'NaN',
  'null',
  '-1',
  '1e999',
  '4111 1111 1111 1111',
] as const;
const values: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [[[[]]]],
  ...texts,
];

/** The value with one to three places changed, removed, doubled or renamed. */
export function mutated(dice: Dice, value: Json): Json {
  let result = structuredClone(value) as Json;
  for (let n = 1 + dice.below(3); n > 0; n--) result = changed(dice, result);
  return result;
}

function changed(dice: Dice, value: Json): Json {
  if (Array.isArray(value) && value.length > 0 && !dice.chance(0.15)) {
    const list = [...(value as Json[])];
    const at = dice.below(list.length);
    const how = dice.below(4);
    if (how === 0) list.splice(at, 1);
    else if (how === 1) list.push(...Array.from({ length: dice.one([1, 3, 300]) }, () => list[at] as Json));
    else list[at] = changed(dice, list[at] as Json);
    return list;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !dice.chance(0.1)) {
    const entries = Object.entries(value as JsonObject);
    if (entries.length > 0) {
      const at = dice.below(entries.length);
      const [key, inner] = entries[at] as [string, Json];
      const how = dice.below(6);
      if (how === 0) entries.splice(at, 1);
      else if (how === 1) entries[at] = [dice.one(texts), inner];
      else if (how === 2) entries.push([dice.one(texts), dice.one(values)]);
      else entries[at] = [key, changed(dice, inner)];
    }
    // defineProperty and not assignment, which would drop the key __proto__.
    const result = {};
    for (const [key, inner] of entries) {
      Object.defineProperty(result, key, { value: inner, enumerable: true, configurable: true, writable: true });
    }
    return result as Json;
  }
  if (typeof value === 'string' && dice.chance(0.5)) {
    const at = dice.below(value.length + 1);
    return value.slice(0, at) + dice.one(texts) + value.slice(at + dice.below(3));
  }
  return dice.one(values);
}

/** The text with bytes cut, doubled or replaced: mostly not JSON or YAML any more. */
export function garbled(dice: Dice, text: string): string {
  let result = text;
  for (let n = 1 + dice.below(4); n > 0; n--) {
    const at = dice.below(result.length + 1);
    const put = dice.one([
      ...texts,
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\n',
      '&a ',
      '*a',
      '!!js/function ',
      '<<: ',
      '? ',
    ]);
    result = result.slice(0, at) + put + result.slice(at + dice.below(20));
  }
  return result;
}
