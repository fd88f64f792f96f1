// Receives deliveries of a `webhook` destination with Fastify.   WEBHOOK_SECRET=whsec_… node fastify.mjs
import Fastify from 'fastify';
import { isNewer, recordKey, verify } from 'innbound-receiver';

const records = new Map(); // your database

const app = Fastify({ bodyLimit: 5 * 1024 * 1024 });
// The raw bytes: a parsed body does not verify.
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

app.post('/innbound', async (request, reply) => {
  const checked = verify({
    headers: request.headers,
    body: request.body,
    secrets: [process.env.WEBHOOK_SECRET],
  });
  if (checked.kind === 'refused') return reply.code(checked.status).send(checked.why);
  const { message } = checked;
  const key = recordKey(message);
  if (isNewer(message, records.get(key))) records.set(key, message);
  return reply.code(204).send();
});
app.get('/records', async () => [...records.values()]);

const address = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
console.log(`${address}/innbound`);
