import { readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openPullRuntime, type PullRuntime } from '../../intake/pull/support/runtime.ts';
import { runAgainst } from './against.ts';
import type { Vendor } from './vendor.ts';

/** Every shipped connector that has a simulated vendor under systems/, one after the other. */
let runtime: PullRuntime;
before(async () => {
  runtime = await openPullRuntime();
});
after(() => runtime.close());

const folder = path.join(import.meta.dirname, 'systems');
for (const file of readdirSync(folder).sort()) {
  test(`${path.basename(file, '.ts')}: all bookings, then exactly the changes, by documented requests only`, async () => {
    const { vendor } = (await import(path.join(folder, file))) as { readonly vendor: Vendor };
    await runAgainst(runtime, vendor);
  });
}
