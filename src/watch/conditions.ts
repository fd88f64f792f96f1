import { ofDeliveries } from './conditions/deliveries.ts';
import { ofEvents } from './conditions/events.ts';
import type { Judged } from './conditions/judged.ts';
import { ofPulls } from './conditions/pulls.ts';
import { ofRecords } from './conditions/records.ts';
import { ofService } from './conditions/service.ts';
import { ofStreams } from './conditions/streams.ts';
import { ofVolumes } from './conditions/volumes.ts';
import type { Condition, Facts } from './facts.ts';

/** Codes of runs that fail because the partner's API does not work: that it does not answer is a condition already. */
const apiFailures: ReadonlySet<string> = new Set([
  'pull.breaker_open',
  'pull.server_error',
  'pull.timeout',
  'pull.unreachable',
]);

/** The one judge: every condition that the facts show, without the mere effects of another one. */
export function conditionsOf(facts: Facts): Condition[] {
  const found = judged(withoutEffects(facts));
  const known = new Set(found.map(({ integration }) => integration));
  const empty = facts.empty.filter(({ integration }) => !known.has(integration));
  return [...found, ...empty.map(isNew)].map((one) => ({ integration: '', subject: '', detail: {}, ...one }));
}

function judged(facts: Facts): Judged[] {
  return [
    ...ofService(facts),
    ...ofPulls(facts),
    ...ofEvents(facts),
    ...ofStreams(facts),
    ...ofRecords(facts),
    ...ofVolumes(facts),
    ...ofDeliveries(facts),
  ];
}

function withoutEffects(facts: Facts): Facts {
  const affected = new Set(facts.partnerCircuits.flatMap(({ integrations }) => integrations));
  const away = new Set<string>(facts.circuits.map(({ name }) => name));
  const isWorking = !facts.missingRoles.includes('worker');
  return {
    ...facts,
    runs: facts.runs.filter((run) => !affected.has(run.integration) || !apiFailures.has(run.error_code ?? '')),
    waitingRuns: facts.waitingRuns.filter((run) => !affected.has(run.integration)),
    feeds: facts.feeds.filter(({ feed, integration }) => feed === 'push' || !affected.has(integration)),
    lanes: facts.lanes.filter(({ destination, paused }) => isWorking && (paused || !away.has(destination))),
    pending: isWorking ? facts.pending : [],
  };
}

const isNew = ({ integration, pulls }: Facts['empty'][number]): Judged => ({
  kind: 'new',
  integration,
  state: 'new',
  quiet: true,
  message: pulls ? 'No run has finished yet.' : 'No event has arrived yet.',
});
