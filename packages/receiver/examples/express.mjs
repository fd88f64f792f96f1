// Receives deliveries of a `webhook` destination with Express.   WEBHOOK_SECRET=whsec_… node express.mjs
import express from 'express';
import { isNewer, recordKey, verify } from 'innbound-receiver';

const records = new Map(); // your database

const app = express();
// The raw bytes: a parsed body does not verify.
app.post('/innbound', express.raw({ type: 'application/json', limit: '5mb' }), (request, response) => {
  const checked = verify({
    headers: request.headers,
    body: request.body,
    secrets: [process.env.WEBHOOK_SECRET],
  });
  if (checked.kind === 'refused') return response.status(checked.status).send(checked.why);
  const { message } = checked;
  const key = recordKey(message);
  if (isNewer(message, records.get(key))) records.set(key, message);
  response.sendStatus(204);
});
app.get('/records', (_request, response) => response.json([...records.values()]));

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${server.address().port}/innbound`),
);
