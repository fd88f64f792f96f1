import { compare, type Finding, type Here, type There } from '../../core/deliver/compare.ts';
import { guestsOf } from '../../core/deliver/consent.ts';
import { type HeldRow, type Holdings, type RecordsOf, Unreadable } from '../../core/deliver/destination.ts';
import { expected, type Peeked } from '../../core/deliver/expected.ts';
import type { Delivery, MessageData } from '../../core/deliver/message.ts';
import type { Lane } from '../../core/deliver/ports.ts';
import { needsDelivered } from '../../core/deliver/select.ts';
import { type AuditPage, peekForAudit } from '../../core/store/outbox/claim.ts';
import { chunksOf } from '../../kit/chunks.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { hashesOf, identitiesOf } from '../privacy/identity.ts';
import { erasedAmong, idsWithoutRecord } from '../store/comparisons.ts';

/** One page of an audit: records of ours and the rows that the destination has under their ids. */
export interface Judged {
  readonly id: string;
  readonly finding: Finding;
  readonly versionHere: number | null;
  /** An erased guest is in what the destination has. */
  readonly isErased: boolean;
}

export interface Page {
  readonly judged: readonly Judged[];
  readonly read: number;
  /** Undefined for the last page. */
  readonly last: string | undefined;
  /** Why the rest was not read. */
  readonly failure?: string;
}

interface Reading {
  readonly runtime: Runtime;
  readonly holdings: Holdings;
  readonly laneOf: (integration: string) => Lane | undefined;
  readonly epoch: number;
}

/** How many contents are in memory at a time. */
const contentsAtOnce = 500;
/** A record that keeps changing while it is read counts as waiting. */
const mostReadings = 4;

/** Our side reads the next of these while the destination reads one. */
const partSize = 1_000;

export async function compareOurs(reading: Reading, of: RecordsOf, page: AuditPage): Promise<Page> {
  const lane = reading.laneOf(of.integration);
  if (lane === undefined) return { judged: [], read: 0, last: undefined };
  const limit = Math.min(partSize, page.limit);
  const judged: Judged[] = [];
  let read = 0;
  for (let next = peek(reading, lane, of, { ...page, limit }); ; ) {
    const peeked = await next;
    const last = peeked.length < limit ? undefined : peeked.at(-1)?.id;
    read += peeked.length;
    const isOver = last === undefined || read >= page.limit;
    if (!isOver) {
      next = peek(reading, lane, of, { ...page, limit, after: last });
      // Awaited in the next round, if there is one.
      next.catch(() => {});
    }
    const { failure, ...part } = await comparePart(reading, lane, of, peeked);
    judged.push(...part.judged);
    if (failure !== undefined) return { judged, read, last: undefined, failure };
    if (isOver) return { judged, read, last };
  }
}

async function comparePart(
  reading: Reading,
  lane: Lane,
  of: RecordsOf,
  peeked: readonly Peeked[],
): Promise<Pick<Page, 'judged' | 'failure'>> {
  const judged: Judged[] = [];
  try {
    const wanted = wantedOf(reading, lane, peeked);
    const rows = await rowsOf(reading, of, 'digests', wanted);
    const unsure: string[] = [];
    for (const one of peeked) {
      const findings = atOnce(wanted.get(one.id) as Wanted, rows.get(one.id) ?? [], reading.holdings);
      if (findings === undefined) unsure.push(one.id);
      else judged.push(...findings.map((finding) => judgedAs(one, finding)));
    }
    for (const chunk of chunksOf(unsure, contentsAtOnce))
      judged.push(...(await compareAgain(reading, lane, of, chunk)));
    return { judged };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const done = new Set(judged.map(({ id }) => id));
    const unread = peeked.filter(({ id }) => !done.has(id)).map((one) => judgedAs(one, { kind: 'not_readable' }));
    return { judged: [...judged, ...unread], failure: error.message };
  }
}

/** What it has without a record of ours. */
export async function compareTheirs(reading: Reading, of: RecordsOf, after: string, limit: number): Promise<Page> {
  try {
    const ids = (await reading.holdings.ids?.(of, after, limit)) ?? [];
    const strange = ids.length === 0 ? [] : await idsWithoutRecord(reading.runtime.pool, of, ids);
    const reason = reading.laneOf(of.integration)?.isLeaving ? 'brand_left' : 'not_ours';
    const judged = await judgeStrangers(reading, of, strange, reason);
    return { judged, read: 0, last: ids.length < limit ? undefined : ids.at(-1) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { judged: [], read: 0, last: undefined, failure: error.message };
  }
}

const judgedAs = ({ id, version }: Peeked, finding: Finding, isErased = false): Judged => ({
  id,
  finding,
  versionHere: version,
  isErased,
});

interface Wanted {
  readonly here: Here;
  readonly delivery?: Delivery;
}

/** What the destination should have of each record, in its own words. */
function wantedOf({ holdings, epoch }: Reading, lane: Lane, peeked: readonly Peeked[]): ReadonlyMap<string, Wanted> {
  return new Map(
    peeked.map((one) => {
      const wanted: Wanted = expected(lane, one, epoch);
      const { here, delivery } = wanted;
      if (delivery === undefined || here.kind === 'left_out') return [one.id, wanted];
      const { version, waits } = one;
      const isNothing = holdings.expects?.(delivery) === false;
      if (isNothing) return [one.id, { here: { kind: 'left_out', version, waits, reason: 'nothing_to_send' } }];
      const content = () => holdings.contentOf?.(delivery) ?? here.content();
      return [one.id, { here: { ...here, content }, delivery }];
    }),
  );
}

async function rowsOf(
  { holdings }: Reading,
  of: RecordsOf,
  what: 'digests' | 'contents',
  wanted: ReadonlyMap<string, Wanted>,
): Promise<ReadonlyMap<string, readonly HeldRow[]>> {
  const deliveries = new Map([...wanted].flatMap(([id, { delivery }]) => (delivery ? [[id, delivery] as const] : [])));
  return Map.groupBy(await holdings.rows(of, [...wanted.keys()], what, deliveries), ({ id }) => id);
}

/** What the first look proves: equal, waiting, or nothing to say. Undefined for a difference, which may be a delivery in between. */
function atOnce(
  { here, delivery }: Wanted,
  rows: readonly HeldRow[],
  { digestOf }: Holdings,
): readonly Finding[] | undefined {
  const there = rows.map((row): There => {
    const isSame = row.digest !== undefined && delivery !== undefined && row.digest === digestOf(delivery);
    return { ...row, content: isSame ? 'same' : (row.content ?? {}) };
  });
  const findings = compare(here, there);
  return findings.every(({ kind }) => kind === 'equal' || kind === 'waiting') ? findings : undefined;
}

/** With contents, between two readings of our side: what changed in between is compared again. */
async function compareAgain(reading: Reading, lane: Lane, of: RecordsOf, ids: readonly string[]): Promise<Judged[]> {
  const judged: Judged[] = [];
  let left: readonly string[] = ids;
  for (let round = 1; left.length > 0; round++) {
    const page = { after: '', limit: left.length, ids: left };
    const before = await peek(reading, lane, of, page);
    const wanted = wantedOf(reading, lane, before);
    const rows = await rowsOf(reading, of, 'contents', wanted);
    const stamps = new Map((await peek(reading, lane, of, page)).map(({ id, stamp }) => [id, stamp]));
    const erased = await erasedIn(reading.runtime, of, [...rows.values()].flat());
    const moved: string[] = [];
    for (const one of before) {
      const own = rows.get(one.id) ?? [];
      if (stamps.get(one.id) === one.stamp) {
        const findings = compare(
          (wanted.get(one.id) as Wanted).here,
          own.map((row): There => ({ ...row, content: row.content ?? {} })),
        );
        const isErased = own.some((row) => erased.has(row));
        judged.push(...findings.map((finding) => judgedAs(one, finding, isErased && finding.kind !== 'waiting')));
      } else if (round < mostReadings) moved.push(one.id);
      else judged.push(judgedAs(one, { kind: 'waiting' }));
    }
    left = moved;
  }
  return judged;
}

/** Rows of which we have no record. */
async function judgeStrangers(
  { runtime, holdings }: Pick<Reading, 'runtime' | 'holdings'>,
  of: RecordsOf,
  ids: readonly string[],
  reason: string,
): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const chunk of chunksOf(ids, contentsAtOnce)) {
    const rows = await holdings.rows(of, chunk, 'contents', new Map());
    const erased = await erasedIn(runtime, of, rows);
    for (const row of rows) {
      if (row.isRemoved) continue;
      const there = row.version === undefined ? {} : { versionThere: row.version };
      const finding: Finding = { kind: 'only_there', reason, ...there };
      judged.push({ id: row.id, finding, versionHere: null, isErased: erased.has(row) });
    }
  }
  return judged;
}

function peek({ runtime }: Reading, { destination }: Lane, of: RecordsOf, page: AuditPage): Promise<Peeked[]> {
  const { selection, name } = destination;
  const options = { withDelivered: needsDelivered(selection), withMentions: selection.comparesConsent === true };
  return peekForAudit(runtime, { ...of, destination: name }, page, options);
}

/** The rows in which an erased guest is named. */
async function erasedIn(
  { pool, keys }: Runtime,
  { integration, type }: RecordsOf,
  rows: readonly HeldRow[],
): Promise<ReadonlySet<HeldRow>> {
  const hashes = new Map(
    rows.map((row) => {
      const guests = guestsOf(type, {
        id: row.id,
        ...(typeof row.content === 'object' && row.content),
      } as unknown as MessageData);
      const reservation = type === 'reservation' ? row.id : undefined;
      const identities = (guests ?? []).flatMap((guest) => identitiesOf(guest, integration, reservation));
      return [row, hashesOf(keys.hashKeys, identities)];
    }),
  );
  const erased = await erasedAmong(pool, integration, [...hashes.values()].flat());
  return new Set(rows.filter((row) => hashes.get(row)?.some((hash) => erased.has(hash))));
}
