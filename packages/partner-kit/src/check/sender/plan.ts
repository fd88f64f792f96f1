import { type Attempts, contentOf, type Delivery, eventIdOf, type Role } from './delivery.ts';

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
    const unanswered: Delivery = { ...delivery, status: 0 };
    const id = eventIdOf(unanswered);
    const content = contentOf(unanswered);
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
