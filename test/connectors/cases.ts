import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { compilePlan } from '../../src/core/brand/compile.ts';
import type { Connector } from '../../src/core/documents/connector.ts';
import { schemas } from '../../src/core/documents/kinds.ts';
import { decide, read } from '../../src/core/pipeline.ts';
import { parseJson } from '../../src/kit/json.ts';
import type { Json } from '../../src/terms.ts';

/** The golden cases beside the shipped connectors: what a partner sends, and the resulting canonical records. */

export const connectorsDir = fileURLToPath(new URL('../../connectors/', import.meta.url));

export const connectorNames: readonly string[] = readdirSync(connectorsDir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

const caseSchema = z
  .strictObject({
    about: z.string().min(1),
    timezone: z.string(),
    country: z.string().optional(),
    /** The input: the answer to the list, the answer for one reservation, or the `data` of an event. */
    response: z.json().optional(),
    single: z.json().optional(),
    event: z.json().optional(),
    /** The expected result, one for each reservation that `where` keeps; { error, fields } for a dead letter. */
    records: z.array(z.record(z.string(), z.json())),
    /** Spellings that no value map lists, as `field value`. */
    drift: z.array(z.string()).default([]),
  })
  .refine(({ response, single, event }) => [response, single, event].filter((one) => one !== undefined).length === 1);

export type GoldenCase = z.infer<typeof caseSchema> & { readonly name: string };

export function readCases(connector: string): GoldenCase[] {
  const dir = path.join(connectorsDir, connector, 'cases');
  return readdirSync(dir)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: `${connector}/${file}`,
      ...caseSchema.parse(parseJson(readFileSync(path.join(dir, file), 'utf8'))),
    }));
}

export interface Outcome {
  readonly records: Json[];
  readonly drift: string[];
}

/** The whole path of the case's input: shape, canonical, normalize. */
export function runCase(
  connector: Connector,
  golden: Omit<GoldenCase, 'records' | 'drift' | 'about' | 'name'>,
): Outcome {
  const integration = schemas.integration.parse({
    integration: 'golden',
    connector: connector.connector,
    brand_id: 'GOLD',
    timezone: golden.timezone,
    ...(golden.country !== undefined && { country: golden.country }),
  });
  const compiled = compilePlan(connector, integration);
  assert.ok(compiled.kind === 'ok', JSON.stringify(compiled));
  const { shapers } = compiled.plan;
  const push = golden.event !== undefined;
  const found =
    golden.response !== undefined
      ? shapers.pull.records(golden.response)
      : shapers[push ? 'push' : 'single'].single(golden.single ?? golden.event ?? null);
  assert.ok(found.kind === 'ok', JSON.stringify(found));
  const drift: string[] = [];
  const mode = push ? 'push' : golden.single === undefined ? 'pull' : 'single';
  const records = ('records' in found ? found.records : [found.record]).flatMap((raw) => {
    const statement = read(compiled.plan, raw, { mode, effectiveAt: 0, cause: 'replay', causeId: 'golden' });
    const made = decide(compiled.plan, undefined, statement);
    if (made.kind === 'dropped') return [];
    if (made.kind !== 'change') {
      assert.ok(made.kind === 'dead', made.kind);
      const { problems } = (statement.failure ?? made.deadLetter).detail as { problems: { field: string }[] };
      return { error: (statement.failure ?? made.deadLetter).code, fields: problems.map(({ field }) => field) };
    }
    drift.push(...(statement.drift ?? []).map(({ field, value }) => `${field} ${value}`));
    return parseJson(made.text);
  });
  return { records, drift };
}
