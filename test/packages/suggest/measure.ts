import assert from 'node:assert/strict';
import { suggestConnector } from '../../../packages/suggest/src/index.ts';
import { schemas } from '../../../src/core/documents/kinds.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import { type GoldenCase, runCase } from '../../connectors/cases.ts';

export interface Measured {
  readonly hits: number;
  readonly all: number;
  /** Field, expected value, actual value. */
  readonly misses: readonly string[];
  /** Fields of the lines with confidence 0.9 or more, each with whether every record is right in it. */
  readonly sure: readonly { readonly field: string; readonly right: boolean }[];
}

/**
 * Maps the sample with the suggested connector and compares the result with the golden records, field by field. A field that only
 * one of the two has counts as a miss. `extra` is left out: the author of a connector chooses its names.
 */
export function measure(golden: Pick<GoldenCase, 'timezone' | 'country' | 'response' | 'records'>): Measured {
  const { response = null } = golden;
  const suggestion = suggestConnector(response);
  assert.ok(suggestion.kind === 'ok', JSON.stringify(suggestion));
  const { records } = runCase(schemas.connector.parse(suggestion.connector), golden);
  let hits = 0;
  const misses: string[] = [];
  for (const [index, expected] of golden.records.entries()) {
    if ('error' in expected) continue;
    const wanted = fieldsOf(expected);
    const made = fieldsOf(records[index] ?? {});
    for (const field of new Set([...wanted.keys(), ...made.keys()])) {
      if (wanted.get(field) === made.get(field)) hits++;
      else misses.push(`[${index}].${field}: ${wanted.get(field)}, not ${made.get(field)}`);
    }
  }
  const wrong = new Set(misses.map((miss) => miss.replace(/^\[\d+\]\.|\.\d+|: .*$/g, '')));
  const sure = suggestion.fields
    .filter(({ confidence, field }) => confidence >= 0.9 && !field.startsWith('shape.') && !field.startsWith('pull.'))
    .map(({ field }) => ({ field, right: !wrong.has(field) }));
  return { hits, all: hits + misses.length, misses, sure };
}

function fieldsOf(record: Json, path = '', fields = new Map<string, string>()): Map<string, string> {
  if (typeof record !== 'object' || record === null) return fields.set(path, JSON.stringify(record));
  for (const [key, value] of Object.entries(record as JsonObject))
    if (path !== '' || key !== 'extra') fieldsOf(value, path === '' ? key : `${path}.${key}`, fields);
  return fields;
}
