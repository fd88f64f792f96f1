/** A separate process that runs a sync until it is killed. */
import { pino } from 'pino';
import { Handover } from '../../../../src/core/deliver/handover.ts';
import { openHttp } from '../../../../src/core/outbound/http.ts';
import { openPool } from '../../../../src/core/store/db/pool.ts';
import { openPartnerStore } from '../../../../src/core/store/runs/partner-accounts.ts';
import { openTokenStore } from '../../../../src/core/store/runs/partner-tokens.ts';
import { openRunStore } from '../../../../src/core/store/runs/runs.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
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
    runs: openRunStore(pool, new Handover()),
    partners: openPartnerStore(pool),
    tokens: openTokenStore(pool, [...keyring]),
    limits: { leaseMs: 1_500 },
  },
  integration,
  range,
);
