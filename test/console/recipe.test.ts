import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { curlRecipe } from '../../console/src/pages/onboard/recipe.ts';
import { sign } from '../../packages/sender/src/sign.ts';

test('the commands shown to a new brand send an event with a valid signature', async () => {
  const secret = "whsec_it's secret";
  let seen: { body: string; signature: unknown; expected: string } | undefined;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const expected = sign(secret, Number(request.headers['x-webhook-timestamp']), body);
    seen = { body, signature: request.headers['x-webhook-signature'], expected };
    response.writeHead(202).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/x`;
    await promisify(execFile)('sh', ['-c', curlRecipe(url, secret, 'OPO"02')]);
    assert.equal(seen?.signature, seen?.expected);
    const event = JSON.parse(seen?.body ?? '{}');
    assert.equal(event.brand_id, 'OPO"02');
    assert.ok(Math.abs(Date.parse(event.timestamp) - Date.now()) < 60_000, event.timestamp);
  } finally {
    server.close();
  }
});
