import { stringify } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';
import { annotated, remarkOf } from '../print.ts';
import { asLine, type FieldLine } from '../section.ts';
import { type Suggestion, suggestConnector } from '../suggest.ts';
import { findAuth } from './auth.ts';
import { withMinorUnits } from './described.ts';
import type { ApiDescription, Operation } from './model.ts';
import { type Candidate, findSingle, operationName, type Ranked, rank } from './operations.ts';
import { pagingFor } from './paging.ts';
import { type ProposedRequest, requestOf, windowLine } from './request.ts';
import { findSince, findWindow, isDate } from './window.ts';

export interface ProposeOptions {
  readonly name?: string;
  /** `GET /path` of the list; the likeliest one unless given. */
  readonly operation?: string;
  /** A recorded response of that operation; it decides the shape and the mapping. */
  readonly sample?: Json;
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
    (one) => options.operation === undefined || operationName(one) === options.operation,
  );
  const ranked = rank(considered);
  const best = ranked[0] ?? namedWithSample(considered, options);
  if (best !== undefined) return proposalFor(best, ranked.length > 0 ? ranked : [best], description, options);
  const all = description.operations.map(operationName);
  const isNamed = options.operation !== undefined && considered.length > 0;
  return {
    kind: 'nothing',
    message: isNamed
      ? `The description does not show that ${options.operation} answers with a list of reservations. Give a response of it with --sample.`
      : options.operation === undefined
        ? `None of the ${all.length} operations answers with a list of records that have the two dates of a stay. Name one with --operation, and give a response of it with --sample.`
        : `${options.operation} is not an operation of the description. The operations are: ${all.join(', ')}.`,
  };
}

/** The operation that a person named: its answer is not described, so the sample stands for it. */
function namedWithSample(operations: readonly Operation[], options: ProposeOptions): Ranked | undefined {
  const [operation] = operations;
  if (options.operation === undefined || options.sample === undefined || operation === undefined) return undefined;
  const suggestion = suggestConnector(options.sample);
  if (suggestion.kind === 'nothing') return undefined;
  const reason = 'the operation that was named; its answer is the sample';
  return { operation, sample: options.sample, suggestion, score: 0, confidence: 0.95, reason };
}

function proposalFor(
  best: Ranked,
  ranked: readonly Ranked[],
  description: ApiDescription,
  options: ProposeOptions,
): Proposal {
  const { operation } = best;
  const sample = options.sample ?? best.sample;
  const name = options.name === undefined ? {} : { name: options.name };
  const suggestion = options.sample === undefined ? best.suggestion : suggestConnector(sample, name);
  if (suggestion.kind === 'nothing') return suggestion;
  // A collection may hold the password of the person who exported it.
  const baseUrl = description.servers[0]?.replace(/^(https?:\/\/)[^/@]*@/, '$1');
  const days = findWindow(operation);
  const since = days === undefined || days.value.by === 'change' ? findSince(operation) : undefined;
  const window = since === undefined ? days : undefined;
  const { request, fixed, open, contents } = requestOf(operation, window?.value, since?.value);
  const reading: Reading = {
    best,
    suggestion,
    window,
    since,
    fixed,
    hasDates: operation.parameters.some((one) => one.in !== 'header' && one.in !== 'path' && isDate(one)),
    paging: pagingFor(operation, sample, suggestion),
    single: findSingle(description, operation),
    auth: findAuth(description, operation, baseUrl),
    isReal: options.sample !== undefined || operation.sample !== undefined,
  };
  const { auth, headers } = reading.auth.value;
  const isPicked = !reading.isReal && JSON.stringify(suggestion.connector.map).includes('"pick"');
  return {
    kind: 'ok',
    operations: ranked.map(({ operation: one, score, reason }) => ({ operation: operationName(one), score, reason })),
    connector: {
      connector: options.name ?? 'new-pms',
      ...(description.title !== undefined && description.title !== '' && { title: description.title }),
      ...connectorOf(reading, request),
    },
    integration: {
      pull: {
        base_url: baseUrl ?? 'https://pms.example',
        auth,
        ...(Object.keys(headers).length > 0 && { headers }),
      },
    },
    fields: linesOf(reading),
    unmapped: suggestion.unmapped,
    // A made-up answer has no records to count.
    unknown: reading.isReal ? suggestion.unknown : suggestion.unknown.map((one) => one.replace(/ \(.*/, '')),
    notes: [
      ...reading.auth.value.notes,
      ...(isPicked ? [typesUnknown] : []),
      ...(baseUrl === undefined ? ['The description names no server: set base_url.'] : []),
      ...open.map((place) => `${place} is required, and the description gives no value.`),
      ...contents.map(
        (one) => `${one} decides what an answer contains: check that guests, rooms and charges are in it.`,
      ),
      ...(!reading.hasDates && since === undefined ? [readWhole] : []),
      ...(window?.value.by === 'departure' ? [byDeparture] : []),
      ...(window?.value.by === 'arrival' ? [byArrival] : []),
    ],
  };
}

const typesUnknown =
  'The ids are in a list and differ by type. The description does not name the types: check Reservation and Confirmation.';
const readWhole =
  'No parameter limits the list by dates or changes: every run reads the whole list. Ask the partner for such a filter if the list is long.';
const byDeparture =
  'The range filters by day of departure: extend the ranges of pre_stay and stay by the length of the longest stay.';
const byArrival =
  'The range filters by day of arrival: let the range of stay begin earlier by the length of the longest stay.';

interface Reading {
  readonly best: Ranked;
  readonly suggestion: Suggestion & { kind: 'ok' };
  readonly window: ReturnType<typeof findWindow>;
  readonly since: ReturnType<typeof findSince>;
  readonly fixed: ProposedRequest['fixed'];
  readonly hasDates: boolean;
  readonly paging: ReturnType<typeof pagingFor>;
  readonly single: ReturnType<typeof findSingle>;
  readonly auth: ReturnType<typeof findAuth>;
  /** The values of the sample are a partner's, not made up. */
  readonly isReal: boolean;
}

function connectorOf(reading: Reading, request: JsonObject): JsonObject {
  const { suggestion, best, single, paging, hasDates, since } = reading;
  const { shape, map, values } = suggestion.connector;
  return {
    pull: {
      request,
      ...(single !== undefined && { single: single.value.single }),
      pagination: paging.pagination,
      ...(!hasDates && since === undefined && { window: 'none' }),
      ...(since?.value.overlap !== undefined && { since: { overlap: since.value.overlap } }),
    },
    ...shapeWith(shape, single?.value.singlePath),
    ...(isObject(map) && {
      map: withMinorUnits(map, best.operation.response, isObject(shape) ? shape.root_path : undefined),
    }),
    ...(values !== undefined && { values }),
  };
}

/** Each part of the proposal with its reason. */
function linesOf(reading: Reading): FieldLine[] {
  const { best, suggestion, window, since, fixed, hasDates, paging, single, auth, isReal } = reading;
  const windowPath = window?.value.from.name ?? since?.value.parameter.name ?? '';
  return [
    asLine('pull.request', operationName(best.operation), best),
    asLine('pull.request.window', windowPath, windowLine(window ?? since, hasDates)),
    ...fixed.map(({ place, reason }) => asLine(`pull.request.${place}`, place, { confidence: 0.85, reason })),
    asLine('pull.pagination', paging.pagination.type, paging),
    ...(single === undefined ? [] : [asLine('pull.single', single.value.single.path, single)]),
    asLine('auth', auth.value.auth.type, auth),
    ...suggestion.fields.filter(({ field }) => field !== 'pull.pagination').map((one) => (isReal ? one : unseen(one))),
  ];
}

/** The values were made up: only the name counts. */
function unseen(line: FieldLine): FieldLine {
  if (line.field.startsWith('shape.')) return line;
  const [byName = line.reason] = line.reason.split('; ');
  return { ...line, confidence: Math.round(line.confidence * 92) / 100, reason: `${byName}; no value of it was seen` };
}

function shapeWith(shape: Json | undefined, singlePath: string | undefined): { readonly shape?: JsonObject } {
  const own = isObject(shape) ? shape : {};
  const whole = { ...own, ...(singlePath !== undefined && { single_path: singlePath }) };
  return Object.keys(whole).length === 0 ? {} : { shape: whole };
}

/** Most fields of a large description are not mapped: list no more than fit on a screen. */
const mostUnmapped = 60;

/** The proposal as a connector's file, every line with how sure it is and why; the integration's part follows as a comment. */
export function proposalYaml(proposal: Proposal & { kind: 'ok' }): string {
  const { connector, integration, fields, unmapped, unknown, notes, operations } = proposal;
  const head = [
    ' Proposed from an API description: read every line before you use it. The numbers say how sure each guess is.',
    ...(operations.length > 1
      ? [
          ` Other operations that list reservations: ${operations
            .slice(1)
            .map(({ operation }) => operation)
            .join(', ')}.`,
        ]
      : []),
  ].join('\n');
  const auth = fields.find(({ field }) => field === 'auth');
  const left = unmapped.slice(0, mostUnmapped);
  const remarks = fields.filter(({ field }) => field !== 'auth').map(remarkOf);
  return annotated(connector, remarks, head, [
    ' For the integration:',
    ...(auth === undefined ? [] : [` ${auth.confidence.toFixed(2)} ${auth.reason}`]),
    ...stringify(integration, { lineWidth: 0 })
      .trimEnd()
      .split('\n')
      .map((line) => `   ${line}`),
    ...notes.map((note) => ` ${note}`),
    ...(unknown.length === 0 ? [] : [` Statuses to add to values.status: ${unknown.join(', ')}`]),
    ...(left.length === 0 ? [] : [' Not mapped:', ...left.map((path) => `   ${path}`)]),
    ...(unmapped.length > left.length ? [`   and ${unmapped.length - left.length} more`] : []),
  ]);
}
