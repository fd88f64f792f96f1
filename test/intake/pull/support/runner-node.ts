/** A separate process that claims runs from the store, as a node does, until it is killed. */
import { pino } from 'pino';
import { Handover } from '../../../../src/core/deliver/handover.ts';
import { startRunner } from '../../../../src/core/intake/pull/run/runner.ts';
import { openHttp } from '../../../../src/core/outbound/http.ts';
import { openPool } from '../../../../src/core/store/db/pool.ts';
import { openPartnerStore } from '../../../../src/core/store/runs/partner-accounts.ts';
import { openTokenStore } from '../../../../src/core/store/runs/partner-tokens.ts';
import { openRunStore } from '../../../../src/core/store/runs/runs.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { pagination, type Style } from './list.ts';
import { keyring, planOf } from './runtime.ts';

const { connection, node, integration, baseUrl, style } = JSON.parse(process.env.NODE_TASK ?? '{}');
const pool = openPool({ connection, applicationName: node });
const plan = planOf({
  integration,
  baseUrl,
  connector: { pull: { pagination: pagination[style as Style] } },
  pull: { timeouts: { idle: '30s', total: '30s' } },
});
startRunner({
  node,
  clock: systemClock,
  http: openHttp({ allowPrivate: true, userAgent: node }),
  log: pino({ level: 'silent' }),
  random: Math.random,
  plan: async () => ({ kind: 'ok', plan }),
  runs: openRunStore(pool, new Handover()),
  partners: openPartnerStore(pool),
  tokens: openTokenStore(pool, [...keyring]),
  limits: { leaseMs: 1_500 },
  wait: (_topic, _maxMs, signal) => systemClock.wait(50, signal),
});
