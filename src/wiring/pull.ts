import { existsSync } from 'node:fs';
import path from 'node:path';
import program from '../../package.json' with { type: 'json' };
import type { ActiveIntegration } from '../active.ts';
import { dayOffset } from '../documents/day-offset.ts';
import { durationMs } from '../documents/duration.ts';
import { sizeBytes } from '../documents/size.ts';
import { type Ground, shippedConnectorsDir } from '../ground.ts';
import type { Planned, PullPorts } from '../intake/pull/ports.ts';
import { readSettings } from '../intake/pull/read-settings.ts';
import type { RunnerPorts } from '../intake/pull/runner.ts';
import type { SchedulerPorts } from '../intake/pull/schedule.ts';
import { systemClock } from '../kit/clock.ts';
import { openSpool } from '../kit/spool.ts';
import { openPartnerStore } from '../store/partner-states.ts';
import { openTokenStore } from '../store/partner-tokens.ts';
import { openRunStore, queueRun } from '../store/runs.ts';
import { alignSchedules, msToNextStart, type Schedule, startDue } from '../store/schedules.ts';
import { type IntegrationName, type SyncType, syncTypes } from '../terms.ts';

/** What pulling needs, from the documents in force and the ground of this process. */
export function pullPorts(ground: Ground): RunnerPorts {
  return {
    node: ground.node,
    clock: systemClock,
    http: ground.http,
    log: ground.log,
    random: Math.random,
    plan: (integration) => planOf(ground, integration),
    runs: openRunStore(ground.pool, program.version, ground.directLeases),
    partners: openPartnerStore(ground.pool),
    tokens: openTokenStore(
      ground.pool,
      ground.keyring,
      openSpool(path.join(ground.workspaceDir, '.innbound', 'spool')),
    ),
    wait: (topic, maxMs, signal) => ground.wake.wait(topic, maxMs, signal),
  } satisfies PullPorts & RunnerPorts;
}

export function schedulerPorts(ground: Ground): SchedulerPorts {
  return {
    log: ground.log,
    wait: (maxMs, signal) => ground.wake.wait('schedules', maxMs, signal),
    stamp: () => ground.active().stamp,
    align: () => alignSchedules(ground.pool, schedulesOf(ground)),
    startDue: (most) => startDue(ground.pool, most),
    msToNextStart: () => msToNextStart(ground.pool),
    queued: () => ground.wake.signal('runs'),
  };
}

function schedulesOf(ground: Ground): Schedule[] {
  const schedules: Schedule[] = [];
  for (const { name, body } of ground.active().integrations.values()) {
    if (body.paused || body.pull === undefined) continue;
    for (const sync of syncTypes) {
      const every = body.pull.syncs[sync]?.every;
      if (every !== undefined) schedules.push({ integration: name, sync, everyMs: durationMs(every) });
    }
  }
  return schedules;
}

/** Queues a run for whichever node is free; nothing where the same sync is going already. */
export async function runNow(ground: Ground, integration: string, sync: SyncType, requestedBy: string): Promise<void> {
  await queueRun(ground.pool, { integration: integration as IntegrationName, sync, kind: 'manual', requestedBy });
  ground.wake.signal('runs');
}

async function planOf(ground: Ground, integration: IntegrationName): Promise<Planned> {
  const found = ground.active().integrations.get(integration);
  const connectorPull = found?.connector.body.pull;
  if (found?.body.pull === undefined || connectorPull === undefined) {
    const message = found
      ? `${integration} has no pull section, or its connector has none`
      : `no integration ${integration} is in force`;
    return { kind: 'unavailable', code: found ? 'pull.no_such_sync' : 'documents.unknown_name', message };
  }
  const resolved = await ground.resolve(found.body.pull);
  if (resolved.kind !== 'ok') {
    const places = resolved.missing.map(({ path: at, reference }) => `${reference} (pull.${at})`).join(', ');
    return { kind: 'unavailable', code: 'documents.secret_missing', message: `${integration} needs ${places}` };
  }
  const settings = readSettings(
    {
      integration,
      brandId: found.body.brand_id,
      timezone: found.body.timezone,
      connectorPull,
      integrationPull: resolved.body,
      maxBytes: sizeBytes(ground.active().settings.limits.response_body),
      adapter: adapterOf(ground, found),
    },
    { durationMs, dayOffset },
  );
  const { path: recordPath, target } = found;
  return { kind: 'ok', plan: { settings, shaper: recordPath.shaper, prepare: recordPath.prepare, target } };
}

/**
 * An adapter's path is written from the file of its connector: a file in connectors/, or connector.yaml in a folder of the
 * connector's name, of the workspace or as shipped. It may not lead out of there: a document can name code, not bring it.
 */
function adapterOf(ground: Ground, { connector }: ActiveIntegration): string | undefined {
  const adapter = connector.body.pull?.adapter;
  if (adapter === undefined) return undefined;
  const own = path.join(ground.workspaceDir, 'connectors');
  const places = [
    { root: ground.workspaceDir, from: path.join(own, connector.name) },
    { root: ground.workspaceDir, from: own },
    { root: shippedConnectorsDir, from: path.join(shippedConnectorsDir, connector.name) },
  ];
  const files = places
    .map(({ root, from }) => ({ root, file: path.resolve(from, adapter) }))
    .filter(({ root, file }) => !path.relative(root, file).startsWith('..'))
    .map(({ file }) => file);
  return files.find((file) => existsSync(file)) ?? files[0] ?? path.join(own, path.basename(adapter));
}
