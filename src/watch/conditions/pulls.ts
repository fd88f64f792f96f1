import { type ErrorCode, errors } from '../../errors.ts';
import { syncWords } from '../../terms.ts';
import { namedBrands } from '../alerts.ts';
import type { Facts } from '../facts.ts';
import { clause, counted, type Judged } from './judged.ts';

const fewestUnlisted = 10;

export function* ofPulls(facts: Facts): Generator<Judged> {
  for (const { integration, by } of facts.pauses) {
    const about = { kind: 'paused', integration, state: 'paused', quiet: true } as const;
    if (by === null) yield { ...about, message: 'Pulls are paused in the integration document.' };
    else yield { ...about, message: `Pulls were paused by ${by}.`, action: 'resume' };
  }
  for (const { integration, message: reason } of facts.authFailures) {
    const why = reason === null ? '' : `: ${clause(reason)}`;
    const message = `The partner refuses the credentials; pulling is paused${why}.`;
    yield { kind: 'auth_failed', state: 'auth_failed', integration, message, action: 'test_and_resume' };
  }
  for (const { api, integrations, last_failure } of facts.partnerCircuits) {
    const [only = ''] = integrations.length === 1 ? integrations : [];
    const message = `${api} does not work (${clause(last_failure)}). ${counted(integrations.length, 'brand')} cannot pull; requests resume when it answers again.`;
    yield {
      kind: 'breaker_open',
      state: 'failing',
      integration: only,
      subject: api,
      message,
      detail: { brands: integrations.length, integrations: integrations.slice(0, namedBrands) },
      action: 'try_now',
      ...(integrations.length > 1 && { brands: integrations }),
    };
  }
  yield* ofRuns(facts);
  for (const { integration, count } of facts.unlisted) {
    if (count < fewestUnlisted) continue;
    const message = `${count} reservations disappeared from the partner's lists in a day, without a cancellation.`;
    yield { kind: 'bookings_unlisted', state: 'attention', integration, message, detail: { count } };
  }
}

const waits: ReadonlyMap<string, string> = new Map([
  ['breaker', 'waits until the partner’s API works again'],
  ['backoff', 'is retrying a failed request'],
  ['retry_after', 'waits because the partner asked us to (429)'],
]);

function* ofRuns({ runs, waitingRuns, askedToWait }: Facts): Generator<Judged> {
  for (const { integration, sync, state, run_id, error_code } of runs) {
    const detail = { run_id, ...(error_code !== null && { code: error_code }) };
    const why = error_code === null ? '.' : `: ${errors[error_code as ErrorCode]?.what ?? error_code}`;
    const about = { integration, subject: sync, detail };
    if (state === 'failed')
      yield { ...about, kind: 'run_failed', state: 'failing', message: `The last ${syncWords(sync)} run failed${why}` };
    if (state === 'incomplete')
      yield {
        ...about,
        kind: 'run_incomplete',
        state: 'attention',
        message: `The last ${syncWords(sync)} run is incomplete${why}`,
      };
  }
  const waiting = { kind: 'run_waiting', state: 'attention', quiet: true, action: 'try_now' } as const;
  for (const { integration, sync, waiting: reason } of waitingRuns) {
    const why = waits.get(reason);
    if (why !== undefined)
      yield { ...waiting, integration, subject: sync, message: `The ${syncWords(sync)} run ${why}.` };
  }
  const known = new Set(waitingRuns.map(({ integration }) => integration));
  for (const integration of askedToWait) {
    if (!known.has(integration)) yield { ...waiting, integration, message: 'The partner asked us to wait (429).' };
  }
}
