import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from './message.ts';

export interface FeedOptions {
  /** The address of the service, such as https://innbound.example. */
  readonly url: string;
  /** A token with the role `feed`. */
  readonly token: string;
  /** The cursor stored last; absent to read from the beginning, `now` to skip the past. */
  readonly after?: string | undefined;
  /** Only this integration. */
  readonly integration?: string;
  readonly type?: Message['type'];
  /** Changes per page, 1 to 500. Default: 200. */
  readonly limit?: number;
  /** Ends the feed; without it the feed never ends. */
  readonly signal?: AbortSignal;
}

export interface FeedPage {
  readonly changes: readonly (Message & { readonly changed_at: string })[];
  /** Store it after the changes; if the program stops in between, it reads them again. */
  readonly cursor: string;
  /** The cursor was too old, or the service was restored: this page begins the feed again. */
  readonly restarted: boolean;
}

/** Follows the feed of changes. Waits for new ones, and retries while the service is away. */
export async function* readFeed(options: FeedOptions): AsyncGenerator<FeedPage, void, void> {
  const { url, token, integration, type, limit = 200, signal } = options;
  let { after } = options;
  let restarted = false;
  while (signal?.aborted !== true) {
    const query = new URLSearchParams({ limit: String(limit), wait: '25' });
    for (const [name, value] of Object.entries({ after, integration, type })) if (value) query.set(name, value);
    const timeout = AbortSignal.timeout(60_000);
    const answer = await fetch(`${url}/api/v1/changes?${query}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: signal === undefined ? timeout : anyOf(signal, timeout),
    }).catch(() => undefined);
    if (answer?.status === 410) {
      after = undefined;
      restarted = true;
    } else if (answer === undefined || answer.status === 429 || answer.status >= 500) {
      const seconds = Number(answer?.headers.get('retry-after') ?? 5);
      await sleep(Number.isFinite(seconds) ? seconds * 1_000 : 5_000, undefined, { ...(signal && { signal }) }).catch(
        () => {},
      );
    } else if (!answer.ok) {
      const { detail } = (await answer.json().catch(() => ({}))) as { detail?: string };
      throw new Error(`The feed answered ${answer.status}. ${detail ?? ''}`);
    } else {
      const page = (await answer.json()) as Omit<FeedPage, 'restarted'>;
      after = page.cursor;
      yield { changes: page.changes, cursor: page.cursor, restarted };
      restarted = false;
    }
  }
}

/** AbortSignal.any, which Node 18 does not have. */
function anyOf(...signals: AbortSignal[]): AbortSignal {
  const either = new AbortController();
  for (const each of signals) each.addEventListener('abort', () => either.abort(), { once: true });
  return either.signal;
}
