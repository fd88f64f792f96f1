import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '../../src/core/store/db/pool.ts';
import type { Erasure } from '../../test/history/history.ts';
import type { Dice } from '../../test/simulation/random.ts';
import type { NodeProcess } from './nodes.ts';

/**
 * A node may send what it read before the erasure for as long as its lease lasts: the timeout of a call and half a minute. The erasure
 * message reaches the destination after that.
 */
const leaseMs = 35_000;

/** Asks nodes to erase guests, and again until one confirms, as an operator would. */
export class Erasing {
  readonly erasures: Erasure[] = [];
  readonly #token: string;
  readonly #nodes: () => readonly NodeProcess[];
  readonly #dice: Dice;

  constructor(token: string, nodes: () => readonly NodeProcess[], dice: Dice) {
    this.#token = token;
    this.#nodes = nodes;
    this.#dice = dice;
  }

  /** Erases the guest of a reservation. An erasure that no node confirmed is not checked. */
  async erase(reservation: string, withinMs: number): Promise<boolean> {
    const email = `${reservation}@guests.example`;
    const beganMs = Date.now();
    while (Date.now() - beganMs < withinMs) {
      if (await this.#ask(email)) {
        this.erasures.push({ beganMs, atMs: Date.now() + leaseMs, marks: [email, email.toLowerCase()] });
        return true;
      }
      await delay(200);
    }
    return false;
  }

  async #ask(email: string): Promise<boolean> {
    const urls = this.#nodes().flatMap(({ url, role }) => (url !== undefined && role !== 'worker' ? [url] : []));
    if (urls.length === 0) return false;
    try {
      const answer = await fetch(`${this.#dice.pick(urls)}/api/v1/privacy/erasures`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ email }),
        signal: AbortSignal.timeout(20_000),
      });
      const text = await answer.text();
      if (answer.status === 401 || answer.status === 422) throw new TypeError(`erasure refused: ${text}`);
      return answer.status === 201;
    } catch (error) {
      if (error instanceof TypeError && error.message.startsWith('erasure refused')) throw error;
      return false;
    }
  }
}

/** Every place in the store that may hold a guest, except the identifiers that are not yet sent to destinations. */
export async function keptTexts(pool: Pool): Promise<{ readonly place: string; readonly text: string }[]> {
  const { rows } = await pool.query<{ place: string; text: string }>(
    `select 'event ' || event_id as place, convert_from(body, 'UTF8') as text from events where body is not null
     union all select 'record ' || integration || '/' || id, r::text from records r
     union all select 'entry of ' || integration || '/' || id, h::text from history h
     union all select 'dead letter', d::text from dead_letters d
     union all select 'attempt', message from attempts where message is not null`,
  );
  return rows;
}
