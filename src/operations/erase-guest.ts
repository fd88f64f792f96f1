import type { EraseRequest, ErasureReceipt } from '../api/routes/privacy.ts';
import { profilesDestination } from '../deliver/profiles.ts';
import { noIntegration } from '../errors/no-integration.ts';
import { timedId } from '../kit/ids.ts';
import { readEmail } from '../normalize/email.ts';
import { readPhone } from '../normalize/phone.ts';
import {
  askedIdentity,
  guestIdIdentity,
  hashesOf,
  hashIdentity,
  identitiesOf,
  rememberedOf,
} from '../privacy/identity.ts';
import { speaksOfGuests, withoutGuests } from '../privacy/strip.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { transaction } from '../store/db/pool.ts';
import { type ErasedRecord, eraseFromRecords } from '../store/erasure/erase.ts';
import { beginErasure, completeErasure, type ErasureRow, findErasures, type Told } from '../store/erasure/erasures.ts';
import { eraseTraces } from '../store/erasure/traces.ts';
import type { ApplyTarget } from '../store/records/changes.ts';
import type { IntegrationName, Json } from '../terms.ts';

type Erased = { kind: 'erased'; receipt: ErasureReceipt } | { kind: 'invalid'; message: string };

/** Erases a guest everywhere, queues the erasure for the destinations, keeps keyed hashes of the identities, returns the receipt. */
export async function eraseGuest(runtime: Runtime, request: EraseRequest, by: string): Promise<Erased> {
  const read = readRequest(runtime, request);
  if (read.kind === 'invalid') return read;
  const { identities, keys, texts } = read;
  const [key] = runtime.keyring;
  const erasureId = timedId('era', Date.now());
  await beginErasure(runtime.pool, erasureId, by, hashIdentity(key, identities.join(' ')));
  const meant = new Set(identities);
  const { records, versions, receipts } = await transaction(runtime.pool, (tx) =>
    eraseFromRecords(
      tx,
      { erasureId, keys, integration: request.integration, hashes: identities.map((one) => hashIdentity(key, one)) },
      {
        isMeant: (guest, integration) => identitiesOf(guest, integration).some((identity) => meant.has(identity)),
        strip: withoutGuests,
        remember: (guest, integration) => rememberedOf(guest, integration).map((one) => hashIdentity(key, one)),
        speaksOfGuests,
      },
      (integration) => targetOf(runtime, integration),
    ),
  );
  runtime.wake.signal('outbox');
  const traces = await eraseTraces(runtime.pool, records, texts);
  const { raw_payloads = 0, ...others } = traces;
  const removed = { records: records.length, versions, raw_payloads: receipts + raw_payloads, ...others };
  const completed = await completeErasure(runtime.pool, erasureId, {
    removed,
    told: toldOf(runtime, records) as unknown as Json,
  });
  if (completed === undefined) throw new TypeError('the erasure that was just begun is missing');
  runtime.log.info({ erasure_id: erasureId, ...removed }, 'privacy: a guest was erased');
  return { kind: 'erased', receipt: receiptOf(completed) };
}

/** The receipts of earlier erasures of this guest. */
export async function findReceipts(
  runtime: Runtime,
  request: EraseRequest,
): Promise<{ kind: 'found'; receipts: ErasureReceipt[] } | { kind: 'invalid'; message: string }> {
  const read = readRequest(runtime, request);
  if (read.kind === 'invalid') return read;
  const subjects = hashesOf(runtime.keyring, [read.identities.join(' ')]);
  return { kind: 'found', receipts: (await findErasures(runtime.pool, subjects)).map(receiptOf) };
}

type Read =
  | { kind: 'ok'; identities: string[]; keys: string[]; texts: string[] }
  | { kind: 'invalid'; message: string };

/** Normalizes the address and the number as the pipeline does for guests. */
function readRequest(runtime: Runtime, { email, phone, guest_id, integration }: EraseRequest): Read {
  const identities: string[] = [];
  const keys: string[] = [];
  const texts: string[] = [];
  if (integration !== undefined && !runtime.active().integrations.has(integration)) {
    return { kind: 'invalid', message: noIntegration(integration) };
  }
  if (email !== undefined) {
    const given = email.trim().toLowerCase();
    if (!/^[^\s@]+@[^\s@]+$/.test(given)) {
      return { kind: 'invalid', message: 'This is not an e-mail address.' };
    }
    const found = readEmail(given);
    // Records keep an impossible address as it was sent; it must be erasable too.
    const address = found.kind === 'address' ? found.address : given;
    identities.push(askedIdentity('email', address, integration));
    keys.push(`email:${address}`, `alias:${address}`, `email_raw:${given}`);
    texts.push(address);
  }
  if (phone !== undefined) {
    const country =
      integration === undefined ? undefined : runtime.active().integrations.get(integration)?.body.country;
    const found = readPhone(phone, { country });
    if (found.kind !== 'number') return { kind: 'invalid', message: 'Give the phone number in international form.' };
    identities.push(askedIdentity('phone', found.e164, integration));
    keys.push(`phone:${found.e164}`);
    texts.push(found.e164);
  }
  if (guest_id !== undefined) {
    if (integration === undefined) {
      return {
        kind: 'invalid',
        message: 'A guest_id is unique only within its integration: give the integration too.',
      };
    }
    identities.push(guestIdIdentity(guest_id, integration));
    keys.push(`guest_id:${guest_id}`);
  }
  if (identities.length === 0)
    return { kind: 'invalid', message: 'Give an e-mail address, a phone number or a guest_id.' };
  return { kind: 'ok', identities, keys, texts };
}

/** A brand that is no longer in force still has stored data, but no destinations. */
function targetOf(runtime: Runtime, integration: string): ApplyTarget {
  return (
    runtime.active().integrations.get(integration)?.target ?? {
      integration: integration as IntegrationName,
      connectorVersion: 0,
      integrationVersion: 0,
      destinations: { reservation: [], guest: [] },
    }
  );
}

function toldOf(runtime: Runtime, records: readonly ErasedRecord[]): Told[] {
  const counts = new Map<string, Told>();
  for (const { integration, type } of records) {
    for (const destination of targetOf(runtime, integration).destinations[type]) {
      if (destination === profilesDestination) continue;
      const key = `${integration} ${destination}`;
      const known = counts.get(key) ?? { ...notYet, integration, destination, records: 0 };
      counts.set(key, { ...known, records: known.records + 1 });
    }
  }
  return [...counts.values()];
}

const notYet = { confirmed: 0, passed_over: 0, confirmed_at: null };

export function receiptOf({ receipt, ...row }: ErasureRow): ErasureReceipt {
  const { removed = {}, told = [] } = (receipt ?? {}) as Partial<Pick<ErasureReceipt, 'removed' | 'told'>>;
  return { ...row, removed, told: told.map((one) => ({ ...notYet, ...one })) };
}
