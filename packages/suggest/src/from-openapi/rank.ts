import type { Json } from '../../../../src/terms.ts';
import { reservationWords } from '../lexicon.ts';
import { findRoot } from '../root.ts';
import { type Suggestion, suggestConnector } from '../suggest.ts';
import { wordsOf } from '../words.ts';
import type { Operation } from './model.ts';
import { enumOf, flattened } from './schema.ts';
import { statusesInText } from './spellings.ts';
import { synthesize } from './synthesize.ts';
import { findWindow } from './window.ts';

/** An operation that looks like a list of reservations. */
export interface Candidate {
  readonly operation: string;
  readonly score: number;
  readonly reason: string;
}

export interface Ranked extends Omit<Candidate, 'operation'> {
  readonly operation: Operation;
  readonly sample: Json;
  readonly suggestion: Suggestion & { kind: 'ok' };
  readonly confidence: number;
}

/** Only the likeliest by name are examined: reading a large schema takes time. */
const mostExamined = 12;

/** The operations that look like a list of reservations, the likeliest first. */
export function rank(operations: readonly Operation[]): Ranked[] {
  return operations
    .map((operation) => ({ operation, name: nameScore(operation) }))
    .filter(({ name }) => name > 0)
    .toSorted((a, b) => b.name - a.name)
    .slice(0, mostExamined)
    .flatMap(({ operation, name }): Ranked[] => {
      const sample = operation.sample ?? answerOf(operation);
      const root = sample === undefined ? undefined : findRoot(sample);
      if (sample === undefined || root === undefined || root.single) return [];
      const suggestion = suggestConnector(sample);
      if (suggestion.kind === 'nothing') return [];
      const mapped = suggestion.fields.length;
      const priced = suggestion.fields.some(({ field }) => field === 'total_amount') ? 1 : 0;
      const window = findWindow(operation);
      const score =
        Math.round((name + mapped / 6 + priced + (window === undefined ? 0 : 1 + 2 * window.confidence)) * 100) / 100;
      return [
        {
          operation,
          sample,
          suggestion,
          score,
          confidence: Math.min(0.95, 0.5 + score / 20),
          reason: `its answer lists records with the dates of a stay; ${mapped} fields found${window === undefined ? '' : `, and a range of days by ${window.value.by}`}`,
        },
      ];
    })
    .toSorted((a, b) => b.score - a.score);
}

const otherTopics =
  /\b(?:availability|rate plan|inventory|invoice|folio|payment|housekeeping|report|statistic|audit|webhook|deposit|attachment|note)s?\b/;

function nameScore({ method, path, about }: Operation): number {
  const words = wordsOf(path.replaceAll(/[{}/]/g, ' '));
  const text = `${words.join(' ')} ${wordsOf(about).join(' ')}`;
  const known = words.some((word) => reservationWords.has(word))
    ? 2
    : /\breservations?\b|\bbookings?\b/.test(text)
      ? 1
      : 0;
  const writes = method === 'PUT' || (method === 'POST' && !/\b(?:search|find|list|query|get|filter|all)\b/.test(text));
  // A path that ends with an id answers with one record.
  if (path.endsWith('}')) return 0;
  return known - (writes ? 3 : 0) - (otherTopics.test(words.join(' ')) ? 1.5 : 0) + 1;
}

/** The answer that the schema describes; a status without values takes those that the request filters by. */
function answerOf(operation: Operation): Json | undefined {
  const { response, parameters } = operation;
  if (response === undefined) return undefined;
  const filter = parameters.find(({ name }) => wordsOf(name).some((word) => word === 'status' || word === 'statuses'));
  const choices = filter === undefined ? [] : [...enumOf(filter.schema), ...enumOf(flattened(filter.schema.items))];
  return synthesize(response, choices.length > 0 ? choices.map(String) : statusesInText(operation));
}

export const operationName = ({ method, path }: Operation) => `${method} ${path}`;
