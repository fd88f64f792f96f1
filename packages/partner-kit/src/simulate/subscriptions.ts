import { randomUUID } from 'node:crypto';
import { type Answer, bodyObject, type Exchange, json, problem } from './exchange.ts';
import type { PushTarget } from './push.ts';

const path = '/api/subscriptions';

/** Webhook subscriptions that the receiver makes itself: GET lists them, POST makes one, DELETE ends one. */
export class Subscriptions {
  readonly #made = new Map<string, PushTarget>();
  readonly #changed: (targets: readonly PushTarget[]) => void;

  constructor(changed: (targets: readonly PushTarget[]) => void) {
    this.#changed = changed;
  }

  answer({ method, path: at, bodyText }: Exchange): Answer | undefined {
    if (at === path && method === 'GET') {
      return json(200, { subscriptions: [...this.#made].map(([id, { url }]) => ({ id, endpointUrl: url })) });
    }
    if (at === path && method === 'POST') {
      const { endpointUrl: url, secret, property } = bodyObject(bodyText) ?? {};
      if (typeof url !== 'string' || typeof secret !== 'string' || typeof property !== 'string') {
        return problem(400, 'invalid_body', 'endpointUrl, secret and property are required.');
      }
      const id = randomUUID();
      this.#made.set(id, { url, secret, brand_id: property });
      this.#changed([...this.#made.values()]);
      return json(201, { id });
    }
    if (!at.startsWith(`${path}/`) || method !== 'DELETE') return undefined;
    if (!this.#made.delete(at.slice(path.length + 1))) return problem(404, 'not_found', 'No such subscription.');
    this.#changed([...this.#made.values()]);
    return { status: 204, headers: {}, body: '' };
  }
}
