import assert from 'node:assert/strict';
import { test } from 'node:test';

test('the sender is what the package exports, under its own name', async () => {
  const exported = (await import('innbound/webhook-sender' as string)) as { WebhookSender?: { open: unknown } };
  assert.equal(typeof exported.WebhookSender?.open, 'function');
});
