/** A node that delivers. With `stops`, it stops itself by SIGSTOP between its first claim and the call. */
import { startDeliveries } from '../../src/core/deliver/deliveries.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import { openPool } from '../../src/core/store/db/pool.ts';
import { outboxStore } from '../../src/core/store/outbox/settle.ts';
import { config, lane, ports, services } from './support.ts';

const { connection, url, stops, timeoutMs, leaseMarginMs } = JSON.parse(process.env.WORKER ?? '{}');
const pool = openPool({ connection, applicationName: 'stopped worker', maxConnections: 4 });
const offered = services('/');
const store = outboxStore(pool);
let isFirst = true;
const running = startDeliveries(
  ports(
    pool,
    [lane(config('crm', { timeoutMs, batch: 1 }))],
    { crm: http.open(http.settings.parse({ url }), offered) },
    {
      store: {
        ...store,
        claim: async (...asked) => {
          const claims = await store.claim(...asked);
          if (stops && isFirst && claims.length > 0) {
            isFirst = false;
            process.kill(process.pid, 'SIGSTOP');
          }
          return claims;
        },
      },
      leaseMarginMs,
      node: `worker ${process.pid}`,
    },
  ),
);
process.on('SIGTERM', async () => {
  await running.stop();
  await pool.end();
  await offered.close();
});
