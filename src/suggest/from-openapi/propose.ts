import { isObject, type Json, type JsonObject } from '../../terms.ts';
import type { FieldLine } from '../field.ts';
import { reservationWords } from '../lexicon.ts';
import { findPaging } from '../paging.ts';
import { findRoot } from '../root.ts';
import { type Suggestion, suggestConnector } from '../suggest.ts';
import { wordsOf } from '../words.ts';
import { findAuth } from './auth.ts';
import type { ApiDescription, Operation } from './model.ts';
import { findParameterPaging } from './paging.ts';
import { parentFields } from './parent.ts';
import { requestOf, windowLine } from './request.ts';
import { enumOf, flattened } from './schema.ts';
import { findSince } from './since.ts';
import { findSingle } from './single.ts';
import { listedSpellings, onlyListed } from './spellings.ts';
import { synthesize } from './synthesize.ts';
import { roomsFromOneObject } from './tidy.ts';
import { findWindow, isDate } from './window.ts';

export interface ProposeOptions {
  readonly name?: string;
  /** `GET /path` of the list; the likeliest one unless given. */
  readonly operation?: string;
  /** A recorded response of that operation; it decides the shape and the mapping. */
  readonly sample?: Json;
}

/** An operation that looks like a list of reservations. */
export interface Candidate {
  readonly operation: string;
  readonly score: number;
  readonly reason: string;
}

export type Proposal =
  | {
      readonly kind: 'ok';
      readonly operations: readonly Candidate[];
      readonly connector: JsonObject;
      /** `pull` of an integration: base_url, auth, headers. */
      readonly integration: JsonObject;
      readonly fields: readonly FieldLine[];
      readonly unmapped: readonly string[];
      readonly unknown: readonly string[];
      /** What the description leaves for a person to do. */
      readonly notes: readonly string[];
    }
  | { readonly kind: 'nothing'; readonly message: string };

/** A connector and the credentials' part of an integration, from an API description alone or together with a sample. */
export function proposeFromDescription(description: ApiDescription, options: ProposeOptions = {}): Proposal {
  const considered = description.operations.filter(
    (one) => options.operation === undefined || named(one) === options.operation,
  );
  const ranked = rank(considered);
  const [best] = ranked;
  if (best === undefined) {
    const all = description.operations.map(named);
    return {
      kind: 'nothing',
      message:
        options.operation === undefined
          ? `None of the ${all.length} operations answers with a list of records that have the two dates of a stay. Name one with --operation.`
          : `${options.operation} is not an operation whose answer lists reservations. The operations are: ${all.join(', ')}.`,
    };
  }
  const { operation } = best;
  // A collection may hold the password of the person who exported it.
  const baseUrl = description.servers[0]?.replace(/^(https?:\/\/)[^/@]*@/, '$1');
  const sample = options.sample ?? best.sample;
  const name = options.name === undefined ? {} : { name: options.name };
  const suggestion = options.sample === undefined ? best.suggestion : suggestConnector(sample, name);
  if (suggestion.kind === 'nothing') return suggestion;

  const days = findWindow(operation);
  const since = days === undefined || days.value.by === 'change' ? findSince(operation) : undefined;
  const window = since === undefined ? days : undefined;
  const hasDates = operation.parameters.some((one) => one.in !== 'header' && one.in !== 'path' && isDate(one));
  const { request, fixed, open } = requestOf(operation, window?.value, since?.value);
  const paging = pagingFor(operation, sample, suggestion);
  const single = findSingle(description, operation);
  const auth = findAuth(description, operation, baseUrl);
  const parent = parentFields(sample, suggestion);
  const { shape, map } = suggestion.connector;
  const isReal = options.sample !== undefined || operation.sample !== undefined;
  const values = isReal
    ? suggestion.connector.values
    : onlyListed(suggestion.connector.values, listedSpellings(operation));
  const connector: JsonObject = {
    connector: options.name ?? 'new-pms',
    ...(description.title !== undefined && description.title !== '' && { title: description.title }),
    pull: {
      request,
      ...(single !== undefined && { single: single.value.single }),
      pagination: paging.pagination,
      ...(!hasDates && since === undefined && { window: 'none' }),
    },
    ...shapeWith(shape, single?.value.singlePath),
    ...(isObject(map) && { map: roomsFromOneObject({ ...map, ...parent.map }) }),
    ...(values !== undefined && { values }),
  };
  return {
    kind: 'ok',
    operations: ranked.map(({ operation: one, score, reason }) => ({ operation: named(one), score, reason })),
    connector,
    integration: {
      pull: {
        base_url: baseUrl ?? 'https://pms.example',
        auth: auth.value.auth,
        ...(Object.keys(auth.value.headers).length > 0 && { headers: auth.value.headers }),
      },
    },
    fields: [
      { field: 'pull.request', path: named(operation), confidence: best.confidence, reason: best.reason },
      {
        field: 'pull.request.window',
        path: window?.value.from.name ?? since?.value.parameter.name ?? '',
        ...windowLine(window ?? since, hasDates),
      },
      ...fixed.map(({ place, reason }) => ({ field: `pull.request.${place}`, path: place, confidence: 0.85, reason })),
      {
        field: 'pull.pagination',
        path: String(paging.pagination.type),
        confidence: paging.confidence,
        reason: paging.reason,
      },
      ...(single === undefined
        ? []
        : [
            {
              field: 'pull.single',
              path: String(single.value.single.path),
              confidence: single.confidence,
              reason: single.reason,
            },
          ]),
      { field: 'auth', path: String(auth.value.auth.type), confidence: auth.confidence, reason: auth.reason },
      ...suggestion.fields
        .filter(({ field }) => field !== 'pull.pagination' && !parent.lines.some((line) => line.field === field))
        .map((line) => (isReal ? line : unseen(line))),
      ...parent.lines,
    ],
    unmapped: suggestion.unmapped,
    unknown: suggestion.unknown,
    notes: [
      ...auth.value.notes,
      ...(!isReal && JSON.stringify(map).includes('"pick"')
        ? [
            'The ids are in a list and differ by type. The description does not name the types: check Reservation and Confirmation.',
          ]
        : []),
      ...(baseUrl === undefined ? ['The description names no server: set base_url.'] : []),
      ...open.map((place) => `${place} is required, and the description gives no value.`),
      ...(window?.value.by === 'departure'
        ? [
            'The range filters by day of departure: extend the ranges of pre_stay and stay by the length of the longest stay.',
          ]
        : []),
      ...(window?.value.by === 'arrival'
        ? [
            'The range filters by day of arrival: let the range of stay begin earlier by the length of the longest stay.',
          ]
        : []),
    ],
  };
}

const named = ({ method, path }: Operation) => `${method} ${path}`;

/** The values were made up: only the name counts. */
function unseen(line: FieldLine): FieldLine {
  if (line.field.startsWith('shape.')) return line;
  const [named = line.reason] = line.reason.split('; ');
  return { ...line, confidence: Math.round(line.confidence * 92) / 100, reason: `${named}; no value of it was seen` };
}

interface Ranked extends Omit<Candidate, 'operation'> {
  readonly operation: Operation;
  readonly sample: Json;
  readonly suggestion: Suggestion & { kind: 'ok' };
  readonly confidence: number;
}

/** Only the likeliest by name are examined: reading a large schema takes time. */
const mostLookedInto = 12;

function rank(operations: readonly Operation[]): Ranked[] {
  return operations
    .map((operation) => ({ operation, name: nameScore(operation) }))
    .filter(({ name }) => name > 0)
    .toSorted((a, b) => b.name - a.name)
    .slice(0, mostLookedInto)
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

const elsewhere =
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
  return known - (writes ? 3 : 0) - (elsewhere.test(words.join(' ')) ? 1.5 : 0) + 1;
}

/** The answer that the schema describes; a status without values takes those that the request filters by. */
function answerOf({ response, parameters }: Operation): Json | undefined {
  if (response === undefined) return undefined;
  const filter = parameters.find(({ name }) => wordsOf(name).some((word) => word === 'status' || word === 'statuses'));
  const choices = filter === undefined ? [] : [...enumOf(filter.schema), ...enumOf(flattened(filter.schema.items))];
  return synthesize(response, choices.map(String));
}

function pagingFor(operation: Operation, sample: Json, suggestion: Suggestion & { kind: 'ok' }) {
  const shape = isObject(suggestion.connector.shape) ? suggestion.connector.shape : {};
  const rootPath = typeof shape.root_path === 'string' ? shape.root_path : undefined;
  const seen = findPaging(isObject(sample) ? sample : {}, rootPath);
  const total = seen.total ?? (isObject(sample) && typeof sample.total === 'number' ? 'total' : undefined);
  const cursor = seen.pagination.type === 'cursor' ? String(seen.pagination.next) : undefined;
  const asked = findParameterPaging(operation, { total, cursor });
  if (asked !== undefined) return { pagination: asked.value, confidence: asked.confidence, reason: asked.reason };
  if (seen.confidence >= 0.7) return seen;
  return {
    pagination: { type: 'none' } as JsonObject,
    confidence: 0.6,
    reason: 'no parameter of the request asks for a page',
  };
}

function shapeWith(shape: Json | undefined, singlePath: string | undefined): { readonly shape?: JsonObject } {
  const own = isObject(shape) ? shape : {};
  // Reservations inside bookings: the paging counts the bookings.
  const [, counted] = /^(.+)\[\]\.[^.[\]]+$/.exec(String(own.root_path ?? '')) ?? [];
  const whole = {
    ...own,
    ...(counted !== undefined && { count_path: counted }),
    ...(singlePath !== undefined && { single_path: singlePath }),
  };
  return Object.keys(whole).length === 0 ? {} : { shape: whole };
}
