import type { Json } from '../../../terms.ts';
import { guestsOf } from '../../consent.ts';
import type { Outcome } from '../../destination.ts';
import type { Delivery } from '../../message.ts';
import { erasedPeople } from './people.ts';

interface Requests {
  readonly each: 'record' | 'guest';
  /** The body of the usual request; undefined for the message itself, which says what happened. */
  readonly body: Json | undefined;
  /** The requests of each situation, where it has its own. */
  readonly steps: Readonly<Partial<Record<'erased' | 'withdrawn' | 'removed', unknown>>>;
}

/**
 * The outcome of an erasure, a withdrawal of consent or a removal that none of the requests can express. The usual request would send the guest like
 * any other, and its answer would count as the confirmation.
 */
export function notExpressed({ message, byConsent, ...rest }: Delivery, requests: Requests): Outcome | undefined {
  if (requests.body === undefined) return undefined;
  const body = JSON.stringify(requests.body);
  const isAboutGuests = requests.each === 'guest' || message.type === 'guest';
  if (message.event === 'erased') {
    const isSaid = requests.steps.erased !== undefined || body.includes('{event') || !isAboutGuests;
    return isSaid || erasedPeople({ message, byConsent, ...rest }).length === 0 ? undefined : dead('erased');
  }
  if (message.event === 'removed') {
    const isSaid = requests.steps.removed !== undefined || /\{(?:event|data\.status)/.test(body);
    return isSaid || requests.each === 'guest' ? undefined : dead('removed');
  }
  const withdraws =
    byConsent && guestsOf(message.type, message.data).some(({ marketing_consent: agrees }) => agrees === false);
  const isSaid = (requests.steps.withdrawn !== undefined && isAboutGuests) || body.includes('consent');
  return withdraws && !isSaid ? dead('withdrawn') : undefined;
}

const words = {
  erased: 'The body of this destination cannot express an erasure, and there is no on.erased.',
  withdrawn: 'The body of this destination cannot express a withdrawal of consent, and there is no on.withdrawn.',
  removed: 'The body of this destination cannot express that a record was removed, and there is no on.removed.',
} as const;
const dead = (situation: keyof typeof words): Outcome => ({
  kind: 'dead',
  code: 'deliver.not_expressed',
  message: words[situation],
});
