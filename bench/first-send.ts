import assert from 'node:assert/strict';
import type { Guest } from '../src/canonical/reservation.ts';
import { takeRequest } from '../src/store/remotes.ts';
import { setUpPeople } from '../test/deliver/people/set-up.ts';
import { reservation, takeIn } from '../test/deliver/support.ts';
import type { Account } from '../test/deliver/vendors/account.ts';
import { accounts } from '../test/deliver/vendors/all.ts';
import { limited, type Window } from '../test/deliver/vendors/limited.ts';
import { until } from '../test/support/process.ts';

/** What the vendors publish, and what each counts together. Mailchimp and Salesforce have no limit by the minute. */
const published: { readonly [preset: string]: { readonly windows: readonly Window[]; readonly scope?: string } } = {
  klaviyo: {
    windows: [
      { requests: 75, perMs: 1_000 },
      { requests: 700, perMs: 60_000 },
    ],
  },
  brevo: { windows: [{ requests: 10, perMs: 1_000 }], scope: 'contacts' },
  hubspot: { windows: [{ requests: 100, perMs: 10_000 }], scope: 'account' },
  braze: { windows: [{ requests: 3_000, perMs: 3_000 }] },
  dynamics: { windows: [{ requests: 6_000, perMs: 300_000 }], scope: 'account' },
};

/**
 * `first-send [GUESTS] [SPEED] [PRESET]` sends that many guests, with a booking and a profile each, to simulated accounts that enforce their
 * vendors' limits. Time runs SPEED times as fast, for the limits of both sides. In the middle the node is stopped, and another one continues.
 */
export async function run([count = '10000', speed = '10', only]: readonly string[]): Promise<void> {
  console.log(
    'preset | guests | minutes at the vendor’s pace | calls | refused (429) | processor time per guest, node and vendor',
  );
  for (const make of accounts)
    if ([undefined, make().preset].includes(only)) await send(make, Number(count), Number(speed));
}

async function send(make: () => Account, count: number, speed: number): Promise<void> {
  const ends: (() => unknown)[] = [];
  const { preset } = make();
  const { windows = [], scope } = published[preset] ?? {};
  const faster = windows.map(({ requests, perMs }) => ({ requests, perMs: perMs / speed }));
  const vendor = limited(make, faster, scope === undefined ? undefined : () => scope);
  const open = setUpPeople(vendor.make, ({ pool, name }) => ({
    takeRequest: ({ name: limit, rate }) =>
      takeRequest(pool, name, { name: limit, rate: { ...rate, everyMs: rate.everyMs / speed } }),
  }));
  const { account, assemble, pool, name, server, start } = await open({
    after: (end: () => unknown) => ends.push(end),
  } as never);
  try {
    for (let at = 0; at < count; at += 500) {
      const bookings = Array.from({ length: Math.min(500, count - at) }, (_, i) => booking(at + i));
      await takeIn(pool, bookings, [name], { integration: name });
      await assemble(...bookings);
    }
    await pool.query('analyze');
    const waiting = async () => {
      const { rows } = await pool.query(
        'select count(*)::int as n from outbox where destination = $1 and due_at is not null',
        [name],
      );
      return rows[0]?.n as number;
    };
    const before = server.received.length;
    const [startedMs, usage] = [performance.now(), process.cpuUsage()];
    const first = start();
    await until('half is sent', async () => (await waiting()) < count, 3_600_000);
    await first.stop();
    const second = start();
    await until('all is sent', async () => (await waiting()) === 0, 3_600_000);
    const { user, system } = process.cpuUsage(usage);
    const minutes = ((performance.now() - startedMs) * speed) / 60_000;
    await second.stop();
    const people = account.people();
    assert.deepEqual([people.length, new Set(people.map(({ email }) => email)).size], [count, count]);
    assert.equal(people.filter(({ subscribed, first: named }) => subscribed === false || named !== 'Ana').length, 0);
    if (account.keepsStays) assert.equal(new Set(account.stays().map(({ key }) => key)).size, count);
    const calls = server.received.length - before;
    const cost = `${((user + system) / 1_000 / count).toFixed(1)} ms`;
    console.log([preset, count, minutes.toFixed(1), calls, vendor.refused(), cost].join(' | '));
  } finally {
    for (const end of ends) await end();
  }
}

function booking(i: number) {
  const phone = `+35191${String(i).padStart(7, '0')}`;
  const guest: Guest = { first_name: 'Ana', last_name: `Exemplo ${i}`, email: `g${i}@guests.example`, phone };
  const stay = { status: 'checked_out' as const, booking_date: '2024-01-01' };
  return reservation(`r${i}`, { ...stay, guests: [{ ...guest, marketing_consent: true }] });
}
