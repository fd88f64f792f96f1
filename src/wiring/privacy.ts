import type { ApiPorts } from '../api/api.ts';
import type { EraseRequest, ErasureReceipt } from '../api/routes/privacy.ts';
import { profilesDestination } from '../deliver/profiles.ts';
import type { Ground } from '../ground.ts';
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
import type { ApplyTarget } from '../store/changes.ts';
import { type ErasedRecord, eraseFromRecords } from '../store/erase.ts';
import { eraseTraces } from '../store/erase-traces.ts';
import {
  beginErasure,
  completeErasure,
  type ErasureRow,
  findErasures,
  listErasures,
  readErasure,
  type Told,
} from '../store/erasures.ts';
import { transaction } from '../store/pool.ts';
import type { IntegrationName, Json } from '../terms.ts';

export function privacyPorts(ground: Ground): ApiPorts['privacy'] {
  return {
    erase: (request, by) => eraseGuest(ground, request, by),
    list: async () => (await listErasures(ground.pool)).map(receiptOf),
    find: async (request) => {
      const read = readRequest(ground, request);
      if (read.kind === 'invalid') return read;
      const subjects = hashesOf(ground.keyring, [read.identities.join(' ')]);
      return { kind: 'found', receipts: (await findErasures(ground.pool, subjects)).map(receiptOf) };
    },
    read: async (id) => {
      const row = await readErasure(ground.pool, id);
      return row && receiptOf(row);
    },
  };
}

type Erased = { kind: 'erased'; receipt: ErasureReceipt } | { kind: 'invalid'; message: string };

/** Erases a guest everywhere, tells the destinations, remembers keyed hashes, and gives the receipt. */
export async function eraseGuest(ground: Ground, request: EraseRequest, by: string): Promise<Erased> {
  const read = readRequest(ground, request);
  if (read.kind === 'invalid') return read;
  const { identities, keys, texts } = read;
  const [key] = ground.keyring;
  const erasureId = timedId('era', Date.now());
  await beginErasure(ground.pool, erasureId, by, hashIdentity(key, identities.join(' ')));
  const meant = new Set(identities);
  const { records, versions, receipts } = await transaction(ground.pool, (tx) =>
    eraseFromRecords(
      tx,
      { erasureId, keys, integration: request.integration, hashes: identities.map((one) => hashIdentity(key, one)) },
      {
        isMeant: (guest, integration) => identitiesOf(guest, integration).some((identity) => meant.has(identity)),
        strip: withoutGuests,
        remember: (guest, integration) => rememberedOf(guest, integration).map((one) => hashIdentity(key, one)),
        speaksOfGuests,
      },
      (integration) => targetOf(ground, integration),
    ),
  );
  ground.wake.signal('outbox');
  const traces = await eraseTraces(ground.pool, records, texts);
  const { raw_payloads = 0, ...others } = traces;
  const removed = { records: records.length, versions, raw_payloads: receipts + raw_payloads, ...others };
  const completed = await completeErasure(ground.pool, erasureId, {
    removed,
    told: toldOf(ground, records) as unknown as Json,
  });
  if (completed === undefined) throw new TypeError('an erasure that was begun is there');
  ground.log.info({ erasure_id: erasureId, ...removed }, 'privacy: a guest was erased');
  return { kind: 'erased', receipt: receiptOf(completed) };
}

type Read =
  | { kind: 'ok'; identities: string[]; keys: string[]; texts: string[] }
  | { kind: 'invalid'; message: string };

/** What was given, as records have it: addresses and numbers are normalized like every guest's. */
function readRequest(ground: Ground, { email, phone, guest_id, integration }: EraseRequest): Read {
  const identities: string[] = [];
  const keys: string[] = [];
  const texts: string[] = [];
  if (integration !== undefined && !ground.active().integrations.has(integration)) {
    return { kind: 'invalid', message: `No integration is named ${integration}.` };
  }
  if (email !== undefined) {
    const given = email.trim().toLowerCase();
    if (!/^[^\s@]+@[^\s@]+$/.test(given)) {
      return { kind: 'invalid', message: 'The e-mail address cannot be read as one.' };
    }
    const found = readEmail(given);
    // What records keep as sent, since it is no address that anybody has, must be erasable as well.
    const address = found.kind === 'address' ? found.address : given;
    identities.push(askedIdentity('email', address, integration));
    keys.push(`email:${address}`, `alias:${address}`, `email_raw:${given}`);
    texts.push(address);
  }
  if (phone !== undefined) {
    const country = integration === undefined ? undefined : ground.active().integrations.get(integration)?.body.country;
    const found = readPhone(phone, { country });
    if (found.kind !== 'number') return { kind: 'invalid', message: 'Give the phone number in international form.' };
    identities.push(askedIdentity('phone', found.e164, integration));
    keys.push(`phone:${found.e164}`);
    texts.push(found.e164);
  }
  if (guest_id !== undefined) {
    if (integration === undefined) {
      return { kind: 'invalid', message: 'A guest_id means somebody only together with the integration.' };
    }
    identities.push(guestIdIdentity(guest_id, integration));
    keys.push(`guest_id:${guest_id}`);
  }
  if (identities.length === 0)
    return { kind: 'invalid', message: 'Give an e-mail address, a phone number or a guest_id.' };
  return { kind: 'ok', identities, keys, texts };
}

/** A brand that is in force no longer has data all the same; nobody is left to be told. */
function targetOf(ground: Ground, integration: string): ApplyTarget {
  return (
    ground.active().integrations.get(integration)?.target ?? {
      integration: integration as IntegrationName,
      connectorVersion: 0,
      integrationVersion: 0,
      destinations: { reservation: [], guest: [] },
    }
  );
}

function toldOf(ground: Ground, records: readonly ErasedRecord[]): Told[] {
  const counts = new Map<string, Told>();
  for (const { integration, type } of records) {
    for (const destination of targetOf(ground, integration).destinations[type]) {
      if (destination === profilesDestination) continue;
      const key = `${integration} ${destination}`;
      const known = counts.get(key) ?? { ...notYet, integration, destination, records: 0 };
      counts.set(key, { ...known, records: known.records + 1 });
    }
  }
  return [...counts.values()];
}

const notYet = { confirmed: 0, passed_over: 0, confirmed_at: null };

function receiptOf({ receipt, ...row }: ErasureRow): ErasureReceipt {
  const { removed = {}, told = [] } = (receipt ?? {}) as Partial<Pick<ErasureReceipt, 'removed' | 'told'>>;
  return { ...row, removed, told: told.map((one) => ({ ...notYet, ...one })) };
}
