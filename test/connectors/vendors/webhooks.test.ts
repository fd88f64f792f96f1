import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { compilePlan } from '../../../src/core/brand/compile.ts';
import { schemas } from '../../../src/core/documents/kinds.ts';
import { secretKeys } from '../../../src/core/intake/push/mint.ts';
import { readEvents } from '../../../src/core/intake/push/receive.ts';
import { pushSettings } from '../../../src/core/intake/push/settings.ts';
import { verify } from '../../../src/core/intake/push/verify.ts';
import type { Json } from '../../../src/terms.ts';
import { connectorsDir } from '../cases.ts';
import { readmeBlock } from './against.ts';
import type { Vendor, Webhook } from './vendor.ts';

/** Every shipped connector against what its simulated vendor sends: who it is from, which event it is, and about which booking. */

const secret = 'a-secret-of-the-endpoint';
const folder = path.join(import.meta.dirname, 'systems');

function settingsOf(vendor: Vendor) {
  const text = readFileSync(path.join(connectorsDir, vendor.system, 'connector.yaml'), 'utf8');
  const connector = schemas.connector.parse(parse(text, { merge: true }));
  const block = readmeBlock(vendor, 'https://vendor.example');
  const integration = schemas.integration.parse(block);
  assert.ok(integration.push.enabled, 'the page enables push');
  return { connector, integration, push: pushSettings(integration, connector) };
}

function read(vendor: Vendor, { body, headers, query, means }: Webhook): void {
  const { connector, integration, push } = settingsOf(vendor);
  const rawBody = Buffer.from(JSON.stringify(body));
  const requestOf = (used: string) => ({
    headers: headers?.(used, rawBody) ?? {},
    query: query?.(used) ?? '',
    url: `https://hooks.example/webhooks/a?${query?.(used) ?? ''}`,
    rawBody,
  });
  const keys = [secretKeys(1, secret)];
  assert.equal(verify(push.verification, requestOf(secret), keys, Date.now()).kind, 'verified');
  assert.equal(verify(push.verification, requestOf(`${secret}?`), keys, Date.now()).kind, 'refused');
  const result = readEvents(push, body as Json, requestOf(secret));
  assert.ok(result.kind === 'ok', JSON.stringify(result));
  if (means === undefined) {
    assert.deepEqual([result.events.length, result.ignored], [0, 1]);
    return;
  }
  const [event] = result.events;
  assert.equal(event?.event, means[0]);
  assert.notEqual(event?.eventId, means[1], 'a booking’s second event is not a duplicate');
  const compiled = compilePlan(connector, integration);
  assert.ok(compiled.kind === 'ok');
  const { thin } = connector.push ?? {};
  const ids =
    thin === undefined
      ? [connector.push?.map?.id ?? connector.map?.id ?? 'id'].map((at) => at as string)
      : [thin.id].flat().map(String);
  const found = ids.map((at) =>
    at.split('.').reduce<unknown>((in_, key) => (in_ as Record<string, unknown>)?.[key], event?.data),
  );
  assert.equal(String(found.find((id) => id !== undefined)), means[1]);
}

for (const file of readdirSync(folder).sort()) {
  const { vendor } = (await import(path.join(folder, file))) as { readonly vendor: Vendor };
  for (const [i, webhook] of (vendor.webhooks ?? []).entries()) {
    test(`${vendor.system}: webhook ${i + 1} is verified and understood`, () => read(vendor, webhook));
  }
}
