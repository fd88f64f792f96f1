import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findingKinds } from '../../core/deliver/compare.ts';
import type { BrandHealth } from '../operations/health.ts';
import type { MetricRows } from '../store/overview.ts';
import { sendProblem } from './problem.ts';

interface MetricPorts {
  readonly read: () => Promise<{
    readonly rows: MetricRows;
    readonly health: readonly BrandHealth[];
    readonly partnerCircuits: readonly { readonly name: string }[];
    readonly circuits: readonly { readonly name: string }[];
  }>;
  readonly now: () => number;
}

export interface Metrics {
  /** Called for every webhook response. */
  readonly answered: (status: number, code: string | undefined, integration: string | undefined) => void;
  readonly text: () => Promise<string>;
}

/** More frequent scrapes get cached values. */
const freshMs = 5_000;

/**
 * `/metrics`. Counters of this process are kept here. Values for the whole service are read from the store and are the same
 * on every node: rules and panels must take their maximum over the nodes, not their sum. Labels are document names and codes.
 */
export function openMetrics(ports: MetricPorts): Metrics {
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  const stored = new Registry();
  let register = own;
  const gauge = <Labels extends string>(name: string, help: string, ...labelNames: Labels[]): Gauge<Labels> =>
    new Gauge({ name: `innbound_${name}`, help, labelNames, registers: [register] });
  const counter = <Labels extends string>(name: string, help: string, ...labelNames: Labels[]): Counter<Labels> =>
    new Counter({ name: `innbound_${name}`, help, labelNames, registers: [register] });

  const webhooks = counter('webhooks_total', 'Webhooks answered by this node.', 'integration', 'status', 'code');
  register = stored;
  const totals = {
    events: counter('events_total', 'Events accepted.', 'integration'),
    changes: counter('changes_total', 'New versions of records.', 'integration'),
    delivered: counter('delivered_total', 'Deliveries that succeeded.', 'integration'),
    retried: counter('delivery_retries_total', 'Delivery attempts that will be retried.', 'integration'),
    dead: counter('delivery_dead_total', 'Deliveries that failed for good.', 'integration'),
  };
  const states = gauge('brand_state', '1 for the state of the brand, the worst of its checks.', 'integration', 'state');
  const waiting = gauge('outbox_waiting', 'Records waiting for delivery.', 'integration', 'destination');
  const late = gauge('outbox_late_seconds', 'Age of the longest overdue record.', 'integration', 'destination');
  const held = gauge('outbox_held', 'Records held back by a dead letter.', 'integration', 'destination');
  const compared = gauge(
    'audit_records',
    'Records by what the last audit of a destination said of them.',
    'integration',
    'destination',
    'kind',
  );
  const audited = gauge('audit_last_finished_seconds', 'When the last audit ended.', 'integration', 'destination');
  const deadLetters = gauge('dead_letters_open', 'Open dead letters.', 'integration', 'kind');
  const heldRows = gauge('rows_held', 'Rows held back as a mistake of the partner.', 'integration');
  const alerts = gauge('alerts_open', 'Open alerts.', 'integration', 'kind', 'severity');
  const runs = gauge(
    'run_last_finished_seconds',
    'When the last run of a sync ended.',
    'integration',
    'sync',
    'status',
  );
  const going = gauge('runs_going', 'Runs queued or running.');
  const pending = gauge('events_pending', 'Accepted events that are not processed yet.', 'integration');
  const lastEvent = gauge('event_last_seconds', 'When the last event was received.', 'integration');
  const partnerCircuits = gauge('breaker_open', '1 while the circuit breaker of a partner API is open.', 'api');
  const circuits = gauge('destination_circuit_open', '1 while the circuit of a destination is open.', 'destination');
  const reachable = gauge('store_up', '1 when the store answered the scrape.');

  const refresh = async (): Promise<void> => {
    const { rows, health, partnerCircuits: open, circuits: away } = await ports.read();
    stored.resetMetrics();
    for (const { integration, ...counts } of rows.totals) {
      for (const [name, metric] of Object.entries(totals)) {
        metric.inc({ integration }, counts[name as keyof typeof totals]);
      }
    }
    for (const { integration, state } of health) states.set({ integration, state }, 1);
    for (const { integration, destination, ...lane } of health.flatMap(({ lanes }) => lanes)) {
      waiting.set({ integration, destination }, lane.waiting);
      held.set({ integration, destination }, lane.held);
      late.set({ integration, destination }, (lane.late_ms ?? 0) / 1000);
    }
    for (const { integration, destination, finished_at, counts } of health.flatMap(({ comparisons }) => comparisons)) {
      for (const kind of findingKinds) compared.set({ integration, destination, kind }, counts[kind]);
      audited.set({ integration, destination }, finished_at.getTime() / 1000);
    }
    for (const { integration, rows: count } of rows.held) heldRows.set({ integration }, count);
    for (const { integration, kind, open: count } of rows.deadLetters) deadLetters.set({ integration, kind }, count);
    for (const { integration, kind, severity, open: count } of rows.alerts) {
      alerts.set({ integration, kind, severity }, count);
    }
    for (const { integration, sync, state, finished } of rows.runs)
      runs.set({ integration, sync, status: state }, finished);
    for (const { integration, pending: count } of rows.pendingEvents) pending.set({ integration }, count);
    for (const { integration, at } of rows.lastEvents) lastEvent.set({ integration }, at);
    for (const { name: api } of open) partnerCircuits.set({ api }, 1);
    for (const { name: destination } of away) circuits.set({ destination }, 1);
    going.set(rows.going);
  };

  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  return {
    answered: (status, code, integration) =>
      webhooks.inc({ integration: integration ?? '', status: String(status), code: code ?? '' }),
    text: async () => {
      if (ports.now() - readAt > freshMs) {
        reading ??= refresh().finally(() => {
          reading = undefined;
        });
        const up = await reading.then(
          () => true,
          () => false,
        );
        if (up) readAt = ports.now();
        reachable.set(up ? 1 : 0);
      }
      return `${await stored.metrics()}${await own.metrics()}`;
    },
  };
}

/** `isAllowed` decides for each request, such as by its token. */
export function registerMetrics(
  app: FastifyInstance,
  metrics: Metrics,
  isAllowed: (request: FastifyRequest) => Promise<boolean>,
): void {
  app.get('/metrics', async (request, reply) => {
    if (!(await isAllowed(request))) {
      reply.header('www-authenticate', 'Bearer realm="innbound"');
      const detail = 'Send a token for all integrations, or set metrics.port or metrics.access in innbound.yaml.';
      return sendProblem(request, reply, 401, 'operate.unauthorized', { detail });
    }
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.text());
  });
}
