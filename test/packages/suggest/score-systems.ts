import { readdirSync, readFileSync } from 'node:fs';
import { suggestConnector } from '../../../packages/suggest/src/index.ts';
import { schemas } from '../../../src/core/documents/kinds.ts';
import { parseJson } from '../../../src/kit/json.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import { runCase } from '../../connectors/cases.ts';
import { judge } from './judge.ts';

interface SystemCase {
  readonly about: string;
  readonly timezone: string;
  readonly country: string;
  readonly response: Json;
  readonly expected: readonly JsonObject[];
}

export interface Scored {
  readonly file: string;
  readonly about: string;
  /** Share of the expected fields that the proposal gets right. */
  readonly score: number;
  readonly misses: readonly string[];
  /** The lines with confidence 0.9 or more. */
  readonly sure: readonly { readonly field: string; readonly right: boolean }[];
}

/** Maps the response of each system in a folder with the proposed connector, unedited, and compares the records with the expected ones. */
export function scoreSystems(dir: URL): Scored[] {
  return readdirSync(dir).map((file) => {
    const system = parseJson(readFileSync(new URL(file, dir), 'utf8')) as unknown as SystemCase;
    const suggestion = suggestConnector(system.response);
    const isProposed = suggestion.kind === 'ok';
    const records = isProposed ? runCase(schemas.connector.parse(suggestion.connector), system).records : [];
    const { hits, misses } = judge(system.expected, records);
    const wrong = new Set(misses.map(({ field }) => field));
    const lines = isProposed ? suggestion.fields : [];
    const sure = lines.filter(({ confidence, field }) => confidence >= 0.9 && !/^(?:shape|pull)\./.test(field));
    return {
      file,
      about: system.about,
      score: hits / (hits + misses.length),
      misses: misses.map(({ text }) => text),
      sure: sure.map(({ field }) => ({ field: `${file} ${field}`, right: !wrong.has(field) })),
    };
  });
}

export const meanOf = (all: readonly Scored[]): number => all.reduce((sum, { score }) => sum + score, 0) / all.length;
