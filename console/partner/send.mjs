// Node 18 and later, no package.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

const sign = (secret, timestamp, body) =>
  `sha512=${createHmac('sha512', secret).update(`${timestamp}.`).update(body).digest('hex')}`;

const post = (url, secret, body) => {
  const timestamp = String(Math.floor(Date.now() / 1000)); // seconds, not milliseconds
  const headers = {
    'Content-Type': 'application/json',
    'X-Webhook-Timestamp': timestamp,
    'X-Webhook-Signature': sign(secret, timestamp, body),
  };
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(15_000) });
};

async function send(url, secret, body) {
  let failure;
  for (let attempt = 0; attempt < 5; attempt++) {
    let asked = 0;
    try {
      const response = await post(url, secret, body); // each try has its own time and signature
      if (response.ok) return response.status;
      failure = `status ${response.status} ${(await response.text()).slice(0, 500)}`;
      asked = Number(response.headers.get('retry-after')) || 0;
    } catch (error) {
      failure = String(error);
    }
    console.error(failure);
    const wait = 2 * 4 ** attempt * (0.5 + Math.random() / 2);
    if (attempt < 4) await new Promise((resolve) => setTimeout(resolve, Math.max(wait, asked) * 1000));
  }
  throw new Error(`giving up after five attempts: ${failure}`);
}

console.log(await send(process.env.WEBHOOK_URL, process.env.WEBHOOK_SECRET, readFileSync(process.argv[2])));
