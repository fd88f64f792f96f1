import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import type { Guest, Reservation } from '../../../src/core/canonical/reservation.ts';
import { deliveryOf } from '../../../src/core/deliver/batch.ts';
import { drainOnce } from '../../../src/core/deliver/deliveries.ts';
import type { DestinationServices } from '../../../src/core/deliver/destination.ts';
import { destinationType as http } from '../../../src/core/deliver/destinations/http/destination.ts';
import { compileFields } from '../../../src/core/deliver/message.ts';
import type { Lane, Selection } from '../../../src/core/deliver/ports.ts';
import { select } from '../../../src/core/deliver/select.ts';
import { type Pool, transaction } from '../../../src/core/store/db/pool.ts';
import { peek } from '../../../src/core/store/outbox/claim.ts';
import { assembleProfiles } from '../../../src/core/store/persons/profiles.ts';
import { Person } from '../../../src/operator/privacy/person.ts';
import { withoutGuests } from '../../../src/operator/privacy/strip.ts';
import { eraseFromRecords } from '../../../src/operator/store/erasure/erase.ts';
import { beginErasure } from '../../../src/operator/store/erasure/erasures.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { testBrand } from '../../support/brand.ts';
import { listen, type Received } from '../http-server.ts';
import { config, keyring, lane, openStore, ports, services, startNode, takeIn } from '../support.ts';
import { type Account, Refusal } from '../vendors/account.ts';

let store: ReturnType<typeof openStore> | undefined;
let serial = 0;
after(async () => (await store)?.close());

/** Opens the vendor's account for one test, and a brand whose deliveries go there. */
export function setUpPeople(
  make: () => Account,
  more: (store: { readonly pool: Pool; readonly name: string }) => Partial<DestinationServices> = () => ({}),
) {
  const { preset } = make();
  return async function setUp(t: TestContext, consent?: 'marketing', selected: Partial<Selection> = {}) {
    store ??= openStore();
    const { pool } = await store;
    // Tests share a store; each has its own brand and destination.
    const name = `${preset}${++serial}`;
    const account = make();
    const refusals: string[] = [];
    let lose: ((request: Received) => boolean) | undefined;
    const server = await listen((request) => {
      try {
        const reply = account.answer(request);
        // The request took effect and the answer is lost.
        return lose?.(request) ? 'cut' : reply;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusals.push(`${request.method} ${request.path}: ${error.message}`);
        return { status: 400, body: { message: error.message } };
      }
    });
    const offered = { ...services('/'), ...more({ pool, name }) };
    t.after(async () => {
      await server.close();
      await offered.close();
    });
    const parse = (variables: Record<string, string>) => http.settings.parse({ preset, with: variables });
    const basic = account.variables(server.url);
    const prepared = await http.prepare?.(parse(basic), offered, { dryRun: false });
    assert.deepEqual(
      prepared?.steps.filter(({ result }) => !['exists', 'created'].includes(result)),
      [],
    );
    const settings = parse({ ...basic, ...prepared?.settings });
    const selection = {
      receives: ['reservation' as const, 'guest' as const],
      fields: compileFields({}),
      comparesConsent: true,
      ...(consent && { consent }),
      ...selected,
    };
    const to = config(name, { batch: http.batch(settings).standard, selection, scheduleMs: [1, 1, 1, 1, 1] });
    // Two integrations with one brand_id.
    const twin = `${name}-twin`;
    const lanes = [lane(to, name), lane(to, twin)];
    const drain = async (change = {}, types = ['reservation', 'guest']) => {
      await pool.query('update outbox set due_at = now() where due_at is not null and type = any($1)', [types]);
      await pool.query(`update remotes set probe_at = now() where state <> 'closed'`);
      const all = ports(pool, lanes, { [name]: http.open(settings, offered) });
      return drainOnce({ ...all, store: { ...all.store, ...change } });
    };
    /** A node that delivers until it is stopped. */
    const start = (concurrency = 4) => {
      const configured = lanes.map((one) => ({ ...one, destination: { ...to, concurrency } }));
      return startNode(ports(pool, configured, { [name]: http.open(settings, offered) }));
    };
    const receive = (record: Reservation, mode: 'pull' | 'push' = 'push', integration = name) =>
      takeIn(pool, [record], [name], { integration, mode });
    const drainAll = async (types?: readonly string[]) => {
      const { dead, retry } = await drain({}, types && [...types]);
      assert.deepEqual([dead, retry, refusals], [0, 0, []]);
    };
    const deliver = async (...records: Reservation[]) => {
      for (const record of records) {
        await receive(record);
        await drainAll();
      }
    };
    const erase = async (email: string) => {
      const target = { integration: name as IntegrationName, connectorVersion: 1, integrationVersion: 1 };
      await beginErasure(pool, name, 'test', '');
      await transaction(pool, (tx) =>
        eraseFromRecords(
          tx,
          {
            erasureId: name,
            person: new Person({ emails: [email], integration: name }),
            integration: name,
            hashes: [],
          },
          { keyring, strip: withoutGuests, remember: () => [] },
          () => ({ ...target, destinations: { reservation: [name], guest: [] } }),
        ),
      );
      await drainAll();
    };
    const loseOnce = (which: (request: Received) => boolean) => {
      lose = (request) => {
        if (!which(request)) return false;
        lose = undefined;
        return true;
      };
    };
    /** Assembles the profiles of these bookings, which the destination gets too. */
    const assemble = (...records: Reservation[]) => {
      const versions = records.map(({ id, guests }) => ({ id, version: 1, guests }));
      return assembleProfiles(pool, testBrand(name, { guest: [name] }), versions);
    };
    /** The calls that a preview of the bookings promises. */
    const foresee = async () => {
      const options = { withDelivered: true, withMentions: true, onlyWaiting: true };
      const own = { integration: name, destination: name, type: 'reservation' as const };
      const deliveries = (await peek(pool, own, '', 10_000, options)).flatMap((claimed) => {
        const chosen = select(lanes[0] as Lane, claimed);
        return chosen.kind === 'send' ? deliveryOf(lanes[0] as Lane, claimed, chosen) : [];
      });
      const foreseen = http.foresee?.(settings, deliveries, to.batch) ?? [];
      return foreseen.reduce((sum, { requests }) => sum + requests, 0);
    };
    const unsubscribe = (email: string) => account.unsubscribe(email);
    return {
      account,
      unsubscribe,
      receive,
      drain,
      drainAll,
      start,
      deliver,
      assemble,
      foresee,
      erase,
      refusals,
      server,
      loseOnce,
      pool,
      name,
      twin,
    };
  };
}

export const ana: Guest = {
  guest_id: '7',
  first_name: 'Ana',
  last_name: 'Exemplo',
  email: 'ana@guests.example',
  phone: '+351912345678',
  nationality: 'PT',
  extra: { language: 'pt' },
  marketing_consent: true,
};

export const kinds = (account: Account) => account.moments().map(({ kind }) => kind);
