import assert from 'node:assert/strict';
import { test } from 'node:test';

test('the package exports the sender as innbound/webhook-sender', async () => {
  const exported = (await import('innbound/webhook-sender' as string)) as { WebhookSender?: { open: unknown } };
  assert.equal(typeof exported.WebhookSender?.open, 'function');
});
