import { encodeRecord, type Guest, type Reservation } from '../../core/canonical/reservation.ts';
import { rolledBack, type Tx } from '../../core/store/db/pool.ts';
import { deliveredTo } from '../../core/store/outbox/delivery-list.ts';
import { staysOf } from '../../core/store/persons/profile-bookings.ts';
import { parseJson } from '../../kit/json.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json, JsonObject } from '../../terms.ts';
import { ownParts } from '../privacy/own-parts.ts';
import type { Traces } from '../privacy/traces.ts';
import { type FoundRecord, findRecords } from '../store/erasure/find.ts';
import { findTraces } from '../store/erasure/traces.ts';
import type { EraseRequest } from './guest-request.ts';
import { readGuestRequest } from './guest-request.ts';

/**
 * Everything held on one person, for an access request: records, the parts of retained payloads and messages that name the person, and the
 * destinations that received the records. It holds no data of the other guests of a booking.
 */
export async function exportGuest(runtime: Runtime, request: EraseRequest) {
  const read = readGuestRequest(runtime, request);
  return rolledBack(runtime.pool, async (tx) => {
    const matches = await findRecords(tx, read.person, { integration: request.integration });
    // A booking of other guests is not the person's data; what its payloads say about the person is added below.
    const records = matches.filter(({ meant }) => meant.size > 0);
    const traces = read.person.traces();
    const payloads: { place: string; key: string; parts: Json[] }[] = [];
    await findTraces(tx, records, traces, ({ place, key, texts }) => {
      const parts = texts.flatMap((text) => partsOf(traces, text));
      if (parts.length > 0) payloads.push({ place, key, parts });
    });
    const own = await Promise.all(
      records.map(async (one) => ({ ...ownPart(one), ...(await staysOfProfile(tx, one)) })),
    );
    return { records: own, payloads, delivered: await deliveredTo(tx, records) };
  });
}

/** A profile with the ids of its stays. */
async function staysOfProfile(tx: Tx, { integration, type, id }: FoundRecord): Promise<JsonObject> {
  if (type !== 'guest') return {};
  const stays = await staysOf(tx, integration, id, 10_000);
  return stays.length === 0 ? {} : { stays: stays.map((stay) => stay.id) };
}

const guestsOf = (record: FoundRecord['record']): readonly Guest[] => ('guests' in record ? record.guests : [record]);

/** The record and its versions, without the other guests, and what single sources state about the person. */
function ownPart({ integration, type, id, version, record, versions, meant }: FoundRecord): JsonObject {
  const own = (one: FoundRecord['record']): Json => {
    if (!('guests' in one)) return parseJson(encodeRecord(one));
    const guests = one.guests.filter((guest) => meant.has(guest));
    return parseJson(encodeRecord({ ...(one as Reservation), guests }));
  };
  const shown = new Set([record, ...versions.map((one) => one.record)].flatMap(guestsOf));
  const statements = [...meant].filter((guest) => !shown.has(guest) && Object.keys(guest).length > 0);
  return {
    integration,
    type,
    id,
    version,
    data: own(record),
    versions: versions.map((one) => ({ version: one.version, data: own(one.record) })),
    ...(statements.length > 0 && { statements: statements as unknown as Json }),
  };
}

/** A text that is not JSON is returned whole. */
function partsOf(traces: Traces, text: string): Json[] {
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    return traces.inText(text) ? [text] : [];
  }
  return ownParts(traces, value);
}
