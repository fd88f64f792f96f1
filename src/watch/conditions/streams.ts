import { type ErrorCode, errors } from '../../errors.ts';
import type { Facts, StreamFacts } from '../facts.ts';
import { fewestRefusals } from './events.ts';
import { hours, type Judged } from './judged.ts';

/** After a node died, the partner may still count its connection for a moment. */
const fewestFailures = 3;
/** Partners keep events for a week: two days are left to act. */
const mostBehindMs = 5 * 24 * 3_600_000;

export function* ofStreams({ streams }: Facts): Generator<Judged> {
  for (const { account: integration, behind_ms, has_gap, ...stream } of streams) {
    const { failures, failure, refused } = stream;
    const isFailing = failure !== null && failures >= (failure === 'push.stream_excess' ? 1 : fewestFailures);
    const detail = { code: failure, failures };
    if (integration.startsWith('destination:')) {
      const subject = integration.slice('destination:'.length);
      const message = `Who unsubscribes at ${subject} cannot be read, so other destinations do not learn of it. ${reasonOf(stream)}`;
      if (isFailing) yield { kind: 'feedback_failing', state: 'attention', subject, message, detail };
      continue;
    }
    if (isFailing)
      yield { kind: 'stream_failing', state: 'failing', integration, message: describeFailure(stream), detail };
    if (refused !== null) {
      const about = { integration, subject: 'stream', message: describeUnread(refused) };
      const isFew = refused.count < fewestRefusals;
      const level = isFew ? ({ state: 'attention', quiet: true } as const) : ({ state: 'failing' } as const);
      yield { kind: 'webhooks_refused', ...about, ...level, detail: { reason: refused.reason } };
    }
    if (has_gap) {
      const message = 'Events of the stream are missing: the partner no longer had those since our last connection.';
      yield { kind: 'stream_gap', state: 'failing', integration, message };
    }
    if (behind_ms === null || behind_ms < mostBehindMs) continue;
    const message = `The stream was last read to its end ${hours(behind_ms)} ago. The partner keeps events for a limited time, usually a week; later ones are lost.`;
    yield { kind: 'stream_behind', state: 'failing', integration, message, detail: { behind_ms } };
  }
}

/** Why a stream cannot be read, and the remedy. */
export function describeFailure({ failure, said }: Pick<StreamFacts, 'failure' | 'said'>): string {
  if (failure === 'push.stream_taken')
    return 'Another program reads the stream of this brand: the partner closes our connection. Events wait at the partner.';
  return `The stream cannot be read. ${reasonOf({ failure, said })} Events wait at the partner.`;
}

function reasonOf({ failure, said }: Pick<StreamFacts, 'failure' | 'said'>): string {
  const { what, next } = errors[failure as ErrorCode] ?? { what: `${failure}.`, next: '' };
  return [what, said !== null && `The answer was: “${said}”.`, next].filter(Boolean).join(' ');
}

/** What of a stream's messages the connector does not describe, and the remedy. */
export const describeUnread = ({ reason }: { readonly reason: string }): string =>
  `The stream sends messages that cannot be used: ${reason}. Correct the connector; innbound map CONNECTOR --push --sample FILE tries a message. Afterwards the stream is read again from the first of them.`;
