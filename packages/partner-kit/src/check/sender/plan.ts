import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../../json.ts';
import { broken, holds, unseen, type Verdict } from '../rule.ts';

/** One request from the sender. `raw` and `json` contain guest data and stay in memory. */
export interface Delivery {
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly raw: Buffer;
  readonly utf8: boolean;
  readonly json: Json | undefined;
  /** The status of our response. */
  readonly status: number;
}

/** All attempts for one event, in order. */
export interface Attempts {
  readonly role: Role;
  readonly deliveries: Delivery[];
}

/** accept: accepted at once. fail: refused until the sender gives up. wait: answered once with 429. */
export type Role = 'accept' | 'fail' | 'wait';

export function envelopeOf({ json }: Pick<Delivery, 'json'>): JsonObject | undefined {
  return isObject(json) ? json : undefined;
}

export function dataOf(delivery: Delivery): JsonObject | undefined {
  const data = envelopeOf(delivery)?.data;
  return isObject(data) ? data : undefined;
}

/** The event id, under either of its usual names in the envelope. */
export function eventIdOf(delivery: Pick<Delivery, 'json'>): string | undefined {
  const envelope = envelopeOf(delivery);
  const id = envelope?.event_id ?? envelope?.id;
  return typeof id === 'string' && id !== '' ? id : typeof id === 'number' ? String(id) : undefined;
}

/** An event's content without id and times: identifies a retry that has a new id. */
function contentOf(delivery: Pick<Delivery, 'json' | 'raw'>): string {
  const envelope = envelopeOf(delivery);
  const said = envelope === undefined ? delivery.raw : JSON.stringify([envelope.event ?? null, envelope.data ?? null]);
  return createHash('sha256').update(said).digest('hex');
}

/** The first attempt and four retries. */
export const triesExpected = 5;
export const waitSeconds = 2;

/**
 * Decides the answer to each event. The first event is accepted, the second always refused to observe the retries, the third
 * answered once with 429, all others accepted. Three events are enough, and a sender that sends more loses only the second.
 */
export class Plan {
  readonly events: Attempts[] = [];
  readonly #byId = new Map<string, Attempts>();
  readonly #byContent = new Map<string, Attempts>();

  /** Records a request under its event, and decides the answer. */
  take(delivery: Omit<Delivery, 'status'>): { readonly status: number; readonly retryAfter?: number } {
    const id = eventIdOf(delivery);
    const content = contentOf(delivery);
    const known = (id === undefined ? undefined : this.#byId.get(id)) ?? this.#unsettled(content);
    const event = known ?? { role: this.#nextRole(), deliveries: [] };
    if (known === undefined) this.events.push(event);
    if (id !== undefined) this.#byId.set(id, event);
    this.#byContent.set(content, event);
    const answer = answerFor(event.role, event.deliveries.length + 1);
    event.deliveries.push({ ...delivery, status: answer.status });
    return answer;
  }

  /** Whether everything was observed. */
  get complete(): boolean {
    const failing = this.events.find(({ role }) => role === 'fail');
    const waiting = this.events.find(({ role }) => role === 'wait');
    return (failing?.deliveries.length ?? 0) >= triesExpected && (waiting?.deliveries.length ?? 0) >= 2;
  }

  get deliveries(): Delivery[] {
    return this.events.flatMap(({ deliveries }) => deliveries).sort((a, b) => a.number - b.number);
  }

  /** The same content under another id is a retry only until the event is accepted. */
  #unsettled(content: string): Attempts | undefined {
    const event = this.#byContent.get(content);
    const last = event?.deliveries.at(-1);
    return last !== undefined && last.status >= 400 ? event : undefined;
  }

  #nextRole(): Role {
    const order: readonly Role[] = ['accept', 'fail', 'wait'];
    return order[this.events.length] ?? 'accept';
  }
}

function answerFor(role: Role, attempt: number): { readonly status: number; readonly retryAfter?: number } {
  if (role === 'fail') return { status: 503 };
  if (role === 'wait' && attempt === 1) return { status: 429, retryAfter: waitSeconds };
  return { status: 202 };
}

export interface SenderEvidence {
  readonly plan: Plan;
  readonly deliveries: readonly Delivery[];
  readonly secret: string;
  readonly path: string;
  /** The expected brand. Absent: any. */
  readonly brandId: string | undefined;
}

/** Judges the requests that a rule is about: it holds if none has a fault; otherwise the first is reported. */
export const each =
  (
    fault: (delivery: Delivery, evidence: SenderEvidence) => string | undefined,
    isAbout: (delivery: Delivery) => boolean = () => true,
    none = 'There was no event.',
  ) =>
  (evidence: SenderEvidence): Verdict => {
    const deliveries = evidence.deliveries.filter(isAbout);
    if (deliveries.length === 0) return unseen(none);
    const bad = deliveries.flatMap((delivery) => {
      const failure = fault(delivery, evidence);
      return failure === undefined ? [] : [{ failure, number: delivery.number }];
    });
    const [first] = bad;
    if (first === undefined) return holds(`${deliveries.length} requests.`);
    return broken(`${first.failure.replace(/\.$/, '')} (${bad.length} of ${deliveries.length}).`, first.number);
  };
