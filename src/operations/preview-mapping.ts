import { suggestConnector, suggestionYaml } from '../../packages/suggest/src/index.ts';
import { compilePath, compileShapes, type Path, type Spellings } from '../brand/compile.ts';
import { parseDocument } from '../documents/check.ts';
import { type Bodies, schemas } from '../documents/kinds.ts';
import type { Mistake } from '../documents/mistake.ts';
import { parseFile } from '../documents/parse.ts';
import { pathFromText } from '../documents/path.ts';
import type { ErrorCode } from '../errors.ts';
import type { EventContent } from '../intake/push/reservation-event.ts';
import { parseForeignJson, parseJson } from '../kit/json.ts';
import { decide, state } from '../pipeline.ts';
import type { RawRecord } from '../shape/config.ts';
import { isObject, type Json } from '../terms.ts';
import { fillRates, unlistedStatuses } from './fill-rates.ts';
import { statedBy } from './partial-row.ts';
import { sampleEvent, stateSampleEvent } from './sample-event.ts';
import { sampleIntegration } from './sample-integration.ts';

export interface Previewed {
  readonly mistakes: readonly Mistake[];
  /** Why the sample cannot be read as a list. */
  readonly problem?: { readonly code: ErrorCode; readonly message: string };
  readonly total: number;
  readonly records: readonly Json[];
  /** Paths of the mapping that found nothing in any record. */
  readonly unmatched: readonly { readonly at: string; readonly path: string }[];
  /** Ids that several records have. */
  readonly repeated: readonly { readonly id: string; readonly times: number }[];
  /** How many of the shown records, guests, rooms and charges have a usable value in each field. */
  readonly filled: readonly { readonly field: string; readonly filled: number; readonly of: number }[];
  /** Statuses of the shown records that no value map lists. */
  readonly unlisted: readonly { readonly status: string; readonly times: number }[];
}

export type Suggested =
  | {
      readonly kind: 'ok';
      readonly connector: string;
      readonly fields: Json;
      readonly unmapped: readonly string[];
      readonly unknown: readonly string[];
    }
  | { readonly kind: 'nothing'; readonly message: string };

/** Proposes a connector for a sample response. Stores nothing. */
export function suggestMapping(sample: string, name: string): Suggested {
  let value: Json;
  try {
    value = parseForeignJson(sample);
  } catch (error) {
    return { kind: 'nothing', message: `The sample is not JSON: ${(error as Error).message}` };
  }
  const suggestion = suggestConnector(value, { name });
  if (suggestion.kind === 'nothing') return suggestion;
  const { fields, unmapped, unknown } = suggestion;
  const plain = fields.map((line) => ({ ...line })) as unknown as Json;
  return { kind: 'ok', connector: suggestionYaml(suggestion), fields: plain, unmapped, unknown };
}

export interface Asked {
  readonly connector: string;
  readonly sample: string;
  readonly integration: string | undefined;
  readonly push: boolean;
  readonly limit: number;
  /** For a property that has no integration yet. */
  readonly timezone?: string | undefined;
  readonly country?: string | undefined;
}

const file = 'connector.yaml';

/** Runs the pipeline over a sample, with a connector text that is not in force. Stores nothing. */
export function previewMapping(
  { connector: text, sample, push, limit, timezone, country }: Omit<Asked, 'integration'>,
  integration: Bodies['integration'] | undefined,
  spellings?: Spellings,
): Previewed {
  const failed = (mistakes: readonly Mistake[]): Previewed => ({
    mistakes,
    total: 0,
    records: [],
    unmatched: [],
    repeated: [],
    filled: [],
    unlisted: [],
  });
  const parsed = parseDocument(text, file, 'connector');
  if (parsed.kind === 'invalid') return failed(parsed.mistakes);
  const connector = schemas.connector.parse(parsed.document.body);
  const body = integration ?? sampleIntegration(connector.connector, { timezone, country });
  if (typeof body === 'string') return { ...failed([]), problem: { code: 'operate.invalid_input', message: body } };
  const compiled = compilePath(connector, body, compileShapes(connector, body.timezone, spellings));
  if (compiled.kind === 'invalid') {
    const { mistakeAt } = parseFile({ kind: 'connector', file, text });
    return failed(
      compiled.problems
        .filter(({ document }) => document === 'connector')
        .map(({ path, message, offset }) =>
          mistakeAt({ path: pathFromText(path), at: 'value', message, ...(offset !== undefined && { offset }) }),
        ),
    );
  }
  const found = readSample(compiled.path, connector, sample, push);
  if (found.kind === 'invalid') return { ...failed([]), problem: { code: found.code, message: found.message } };
  const records = found.records.slice(0, limit).map((raw) => previewOne(compiled.path, raw, found.event));
  const made = records.flatMap((one) => (isObject(one) && one.kind === 'record' ? [one.record ?? null] : []));
  const shaper = compiled.path.shapers[push ? 'push' : 'pull'];
  const unmatched = shaper.unmatched(found.records).map(({ at, text: path }) => ({ at, path }));
  return {
    mistakes: [],
    total: found.records.length,
    records,
    unmatched,
    repeated: repeatedIds(found.records),
    filled: fillRates(made),
    unlisted: unlistedStatuses(made),
  };
}

function repeatedIds(records: readonly RawRecord[]): Previewed['repeated'] {
  const times = new Map<string, number>();
  for (const { key, partial } of records) if (key !== '' && partial !== true) times.set(key, (times.get(key) ?? 0) + 1);
  return [...times].flatMap(([id, count]) => (count > 1 ? [{ id, times: count }] : []));
}

function readSample(path: Path, connector: Bodies['connector'], sample: string, push: boolean) {
  let value: Json;
  try {
    value = parseForeignJson(sample);
  } catch (error) {
    const message = `The sample is not JSON: ${(error as Error).message}`;
    return { kind: 'invalid', code: 'operate.invalid_input', message } as const;
  }
  if (!push) {
    const found = path.shapers.pull.records(value);
    return found.kind === 'ok' ? ({ ...found, event: undefined } as const) : found;
  }
  const read = sampleEvent(connector, value);
  if (read.kind === 'thin')
    return { kind: 'invalid', code: 'operate.invalid_input', message: `${read.id}: ${read.message}` } as const;
  if (read.kind === 'invalid') return read;
  const { event } = read;
  const single = path.shapers.push.single(event.data);
  return single.kind === 'ok' ? ({ kind: 'ok', records: [single.record], event } as const) : single;
}

/** `event`: the event of the sample, which has one record. */
function previewOne(path: Path, raw: RawRecord, event: EventContent | undefined): Json {
  const arrival = { effectiveAt: 0, cause: 'replay', causeId: 'map' } as const;
  const statement =
    event === undefined
      ? state(path, raw, { mode: 'pull', ...arrival })
      : stateSampleEvent(path, event, { mode: 'push', ...arrival });
  const shaper = path.shapers[statement.arrival.mode];
  const source = { raw: raw.value, origins: shaper.origins(raw), unmapped: [...shaper.unmapped(raw)] };
  const stated = statedBy(statement);
  if (stated !== undefined) return { kind: 'record', id: raw.key, record: stated, notes: [], ...source };
  const made = decide(path, undefined, statement);
  if (made.kind === 'dead') {
    const { id, code, message, detail } = made.deadLetter;
    return { kind: 'dead', ...(id !== undefined && { id }), code, message, detail, ...source };
  }
  const { id } = statement;
  if (made.kind !== 'change') return { kind: 'dropped', id, message: made.reason ?? '', ...source };
  return { kind: 'record', id, record: parseJson(made.text), notes: made.notes as unknown as Json, ...source };
}
