import { readEmail } from '../../core/normalize/email.ts';
import { readPhone } from '../../core/normalize/phone.ts';
import { completeSince } from '../../core/store/db/partitions.ts';
import { countRefused, searchTraces, type Trace } from '../../core/store/records/arrivals-search.ts';
import { type SearchFilter, type SearchHit, searchRecords } from '../../core/store/records/search.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { findReceipts } from './erase-guest.ts';

/** Records by id, number, name, address or phone. */
export function findRecords(
  runtime: Runtime,
  filter: Omit<SearchFilter, 'email' | 'phones'>,
): Promise<readonly SearchHit[]> {
  return searchRecords(runtime.pool, { ...filter, ...readAsContact(runtime, filter) });
}

interface ArrivalsRequest {
  readonly text: string;
  readonly within: readonly string[] | undefined;
  /** Also looks for an erasure of this address or number. */
  readonly withErasures: boolean;
}

export interface ArrivalsFound {
  readonly items: readonly (Omit<Trace, 'outcome'> & { readonly outcome: Trace['outcome'] | 'erased' })[];
  readonly since: Date | null;
  readonly refused: number;
}

/** What arrived and did not become a record, what the partner no longer lists, and what was erased. */
export async function findArrivals(
  runtime: Runtime,
  { text, within, withErasures }: ArrivalsRequest,
): Promise<ArrivalsFound> {
  const { pool } = runtime;
  const asked = { text, integrations: within };
  const known = await findRecords(runtime, { ...asked, type: 'reservation', limit: 100 });
  const [traces, refused, since] = await Promise.all([
    searchTraces(pool, { ...asked, known }),
    countRefused(pool, within),
    completeSince(pool),
  ]);
  const erased = withErasures ? await erasuresOf(runtime, text) : [];
  return { items: [...traces, ...erased], since: since ?? null, refused };
}

/** As far as one may say: that the address or number was erased, and when. */
async function erasuresOf(runtime: Runtime, text: string): Promise<ArrivalsFound['items']> {
  const { email, phones = [] } = readAsContact(runtime, { text, integrations: undefined });
  const requests = [...(email === undefined ? [] : [{ email }]), ...phones.map((phone) => ({ phone }))];
  const receipts = await Promise.all(requests.map((request) => findReceipts(runtime, request)));
  return receipts.flat().map(({ erasure_id, completed_at, requested_at }) => ({
    outcome: 'erased',
    integration: '',
    type: 'guest',
    id: erasure_id,
    at: completed_at ?? requested_at,
    reason: completed_at === null ? 'not completed' : null,
    times: 1,
    dead_letter_id: null,
    run_id: null,
  }));
}

/** The text as an address or a phone number. People enter a number as it is dialled where the brand is. */
function readAsContact(
  runtime: Runtime,
  { text = '', integrations }: Pick<SearchFilter, 'text' | 'integrations'>,
): Pick<SearchFilter, 'email' | 'phones'> {
  const email = readEmail(text);
  if (email.kind === 'address') return { email: email.address };
  if (!/\d{5}/.test(text.replace(/\D/g, ''))) return {};
  const brands = [...runtime.active().integrations.values()].filter(
    ({ integration: name }) => integrations === undefined || integrations.includes(name),
  );
  const countries = new Set(brands.flatMap(({ body }) => body.country ?? []));
  const readings = [readPhone(text, {}), ...[...countries].map((country) => readPhone(text, { country }))];
  return { phones: [...new Set(readings.flatMap((one) => (one.kind === 'number' ? [one.e164] : [])))] };
}
