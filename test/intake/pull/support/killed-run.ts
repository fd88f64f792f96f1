/** A separate process that runs a sync until it is killed. */
import { pino } from 'pino';
import { systemClock } from '../../../../src/kit/clock.ts';
import { openHttp } from '../../../../src/outbound/http.ts';
import { openPool } from '../../../../src/store/db/pool.ts';
import { openPartnerStore } from '../../../../src/store/runs/partner-accounts.ts';
import { openTokenStore } from '../../../../src/store/runs/partner-tokens.ts';
import { openRunStore } from '../../../../src/store/runs/runs.ts';
import { pagination } from './list.ts';
import { keyring, planOf, sync } from './runtime.ts';

const { connection, integration, baseUrl, range } = JSON.parse(process.env.RUN ?? '{}');
const pool = openPool({ connection, applicationName: 'killed run' });
const plan = planOf({
  integration,
  baseUrl,
  connector: { pull: { pagination: pagination.token } },
  pull: { timeouts: { idle: '10s', total: '10s' } },
});
await sync(
  {
    node: 'killed',
    clock: systemClock,
    http: openHttp({ allowPrivate: true, userAgent: 'test' }),
    log: pino({ level: 'silent' }),
    random: Math.random,
    plan: async () => ({ kind: 'ok', plan }),
    runs: openRunStore(pool, () => {}),
    partners: openPartnerStore(pool),
    tokens: openTokenStore(pool, [...keyring]),
    limits: { leaseMs: 1_500 },
  },
  integration,
  range,
);
