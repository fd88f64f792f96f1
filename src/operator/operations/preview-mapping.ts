import { suggestConnector, suggestionYaml } from '../../../packages/suggest/src/index.ts';
import { compilePlan, compileShapes, type Plan, type Spellings } from '../../core/brand/compile.ts';
import { entriesOf, listNames } from '../../core/canonical/fields.ts';
import { parseDocument } from '../../core/documents/check.ts';
import { type Bodies, schemas } from '../../core/documents/kinds.ts';
import type { Mistake } from '../../core/documents/mistake.ts';
import { parseFile } from '../../core/documents/parse.ts';
import { pathFromText } from '../../core/documents/path.ts';
import type { EventContent } from '../../core/intake/push/reservation-event.ts';
import { decide, read } from '../../core/pipeline.ts';
import type { Statement } from '../../core/reconcile/forms.ts';
import type { RawRecord } from '../../core/shape/config.ts';
import type { ErrorCode } from '../../errors.ts';
import { parseForeignJson, parseJson } from '../../kit/json.ts';
import { isObject, type Json, type JsonObject } from '../../terms.ts';
import { sampleEvent, stateSampleEvent } from './sample-event.ts';

/** Proposes a connector for a sample response. Stores nothing. */
export function suggestMapping({ sample, name }: { readonly sample: string; readonly name: string }) {
  const read = readSample(sample);
  if (read.kind === 'invalid') return { kind: 'nothing', isEmpty: false, message: read.message } as const;
  const suggestion = suggestConnector(read.value, { name });
  if (suggestion.kind === 'nothing') return suggestion;
  const { fields, unmapped, unknown } = suggestion;
  const plain = fields.map((line) => ({ ...line })) as unknown as Json;
  return { kind: 'ok', connector: suggestionYaml(suggestion), fields: plain, unmapped, unknown } as const;
}

/** A sample of a partner's answer, as people send it. */
export function readSample(text: string) {
  try {
    return { kind: 'ok', value: parseForeignJson(text) } as const;
  } catch (error) {
    const message = `The sample is not JSON: ${(error as Error).message}`;
    return { kind: 'invalid', code: 'operate.invalid_input', message } as const;
  }
}

interface PreviewRequest {
  readonly asked: {
    readonly connector: string;
    readonly sample: string;
    readonly push: boolean;
    readonly limit: number;
    /** For a property that has no integration yet. */
    readonly timezone?: string | undefined;
    readonly country?: string | undefined;
  };
  readonly integration: Bodies['integration'] | undefined;
  readonly spellings?: Spellings | undefined;
}

const nothing = {
  total: 0,
  records: [] as readonly Json[],
  /** Paths of the mapping that found nothing in any record. */
  unmatched: [] as readonly { readonly at: string; readonly path: string }[],
  /** Ids that several records have. */
  repeated: [] as readonly { readonly id: string; readonly times: number }[],
  /** How many of the shown records, guests, rooms and charges have a usable value in each field. */
  filled: [] as readonly FillRate[],
  /** Statuses of the shown records that no value map lists. */
  unlisted: [] as readonly { readonly status: string; readonly times: number }[],
};

type Previewed = typeof nothing & {
  readonly mistakes: readonly Mistake[];
  /** Why the sample cannot be read as a list. */
  readonly problem?: { readonly code: ErrorCode; readonly message: string };
};

const file = 'connector.yaml';

/** Runs the pipeline over a sample, with a connector text that is not in force. Stores nothing. */
export function previewMapping({ asked, integration, spellings }: PreviewRequest): Previewed {
  const { connector: text, sample, push, limit, timezone, country } = asked;
  const failed = (mistakes: readonly Mistake[]): Previewed => ({ ...nothing, mistakes });
  const parsed = parseDocument(text, file, 'connector');
  if (parsed.kind === 'invalid') return failed(parsed.mistakes);
  const connector = schemas.connector.parse(parsed.document.body);
  const body = integration ?? sampleIntegration(connector.connector, { timezone, country });
  if (typeof body === 'string') return { ...failed([]), problem: { code: 'operate.invalid_input', message: body } };
  const compiled = compilePlan(connector, body, compileShapes(connector, body.timezone, spellings));
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
  const sampled = readRecords(compiled.plan, connector, sample, push);
  if (sampled.kind === 'invalid') return { ...failed([]), problem: { code: sampled.code, message: sampled.message } };
  const records = sampled.records.slice(0, limit).map((raw) => previewOne(compiled.plan, raw, sampled.event));
  const made = records.flatMap((one) => (isObject(one) && one.kind === 'record' ? [one.record ?? null] : []));
  const shaper = compiled.plan.shapers[push ? 'push' : 'pull'];
  const unmatched = shaper.unmatched(sampled.records).map(({ at, text: path }) => ({ at, path }));
  return {
    mistakes: [],
    total: sampled.records.length,
    records,
    unmatched,
    repeated: repeatedIds(sampled.records),
    filled: fillRates(made),
    unlisted: unlistedStatuses(made),
  };
}

function repeatedIds(records: readonly RawRecord[]): Previewed['repeated'] {
  const times = new Map<string, number>();
  for (const { key, partial } of records) if (key !== '' && partial !== true) times.set(key, (times.get(key) ?? 0) + 1);
  return [...times].flatMap(([id, count]) => (count > 1 ? [{ id, times: count }] : []));
}

function readRecords(path: Plan, connector: Bodies['connector'], sample: string, push: boolean) {
  const given = readSample(sample);
  if (given.kind === 'invalid') return given;
  if (!push) {
    const listed = path.shapers.pull.records(given.value);
    return listed.kind === 'ok' ? ({ ...listed, event: undefined } as const) : listed;
  }
  const read = sampleEvent(connector, given.value);
  if (read.kind === 'thin')
    return { kind: 'invalid', code: 'operate.invalid_input', message: `${read.id}: ${read.message}` } as const;
  if (read.kind === 'invalid') return read;
  const { event } = read;
  const single = path.shapers.push.single(event.data);
  return single.kind === 'ok' ? ({ kind: 'ok', records: [single.record], event } as const) : single;
}

/** `event`: the event of the sample, which has one record. */
function previewOne(path: Plan, raw: RawRecord, event: EventContent | undefined): Json {
  const arrival = { effectiveAt: 0, cause: 'replay', causeId: 'map' } as const;
  const statement =
    event === undefined
      ? read(path, raw, { mode: 'pull', ...arrival })
      : stateSampleEvent(path, event, { mode: 'push', ...arrival });
  const shaper = path.shapers[statement.receipt.mode];
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

/** What a bare row of a further list states about a reservation that is known already; undefined for any other row. */
export function statedBy({ raw, content, record }: Statement): JsonObject | undefined {
  if (raw.partial !== true || record !== undefined || content === undefined) return undefined;
  return { id: raw.key, ...content.values };
}

/** The settings of a brand that affect mapping, for a sample of a brand that does not exist yet. */
export interface Property {
  readonly timezone?: string | undefined;
  readonly country?: string | undefined;
}

/** An integration with only the settings that mapping needs, or a message about an invalid property. */
export function sampleIntegration(connector: string, { timezone, country }: Property): Bodies['integration'] | string {
  const parsed = schemas.integration.safeParse({
    integration: 'sample',
    connector,
    brand_id: 'sample',
    timezone: timezone ?? 'UTC',
    ...(country !== undefined && { country }),
  });
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const name = String(first?.path[0]);
  return `${name} ${JSON.stringify(name === 'country' ? country : timezone)} ${first?.message}.`;
}

/** In how many records, or guests, rooms and charges, a canonical field has a value. */
interface FillRate {
  /** Such as check_in, guests, guests.email. */
  readonly field: string;
  readonly filled: number;
  readonly of: number;
}

/**
 * Valid records can be useless: without names, or with phones that nobody can call. Only usable values count: an impossible phone is in
 * `phone_raw`, and an alias of a booking site is not the guest's address.
 */
export function fillRates(records: readonly Json[]): FillRate[] {
  const all = records.filter(isObject);
  const rate = (field: string, values: readonly (Json | undefined)[]): FillRate => ({
    field,
    filled: values.filter((value) => value !== undefined && value !== null && value !== '').length,
    of: values.length,
  });
  const own = namesOf('reservation').map((name) =>
    rate(
      name,
      all.map((record) => record[name]),
    ),
  );
  const lists = listNames.flatMap((list) => {
    const items = all.flatMap((record) => (Array.isArray(record[list]) ? record[list].filter(isObject) : []));
    const holders = all.map((record) => (Array.isArray(record[list]) && record[list].length > 0 ? true : undefined));
    const usable = (name: string) =>
      items.map((item) => (name === 'email' && item.email_proxy === true ? undefined : item[name]));
    return [
      rate(list, holders),
      ...(items.length === 0 ? [] : namesOf(list).map((name) => rate(`${list}.${name}`, usable(name)))),
    ];
  });
  return [...own, ...lists];
}

const namesOf = (table: Parameters<typeof entriesOf>[0]): string[] =>
  entriesOf(table)
    .filter(([, { derived, kind }]) => derived !== true && kind !== 'json')
    .map(([name]) => name);

/** The statuses that no value map lists, so that the records are `other`. */
export function unlistedStatuses(records: readonly Json[]): { readonly status: string; readonly times: number }[] {
  const spellings = records.filter(isObject).flatMap(({ status_raw: raw }) => (typeof raw === 'string' ? [raw] : []));
  return [...Map.groupBy(spellings, (spelling) => spelling)].map(([status, all]) => ({ status, times: all.length }));
}

/** `guests.email 0 of 5, guests.phone 3 of 5`: the fields that not everything has, the emptiest first. */
export function gapsText(rates: readonly FillRate[]): string {
  return rates
    .filter(({ filled, of }) => filled < of)
    .toSorted((a, b) => a.filled / a.of - b.filled / b.of)
    .map(({ field, filled, of }) => `${field} ${filled} of ${of}`)
    .join(', ');
}
