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
  /** The wait before a retry, if the service does not say how long. Default: 5,000. */
  readonly retryMs?: number;
  /** Ends the feed; without it the feed never ends. */
  readonly signal?: AbortSignal;
}

/** A timer of more than 24 days would end at once. */
const mostWaitMs = 3_600_000;

export interface FeedPage {
  readonly changes: readonly (Message & { readonly changed_at: string })[];
  /** Store it after the changes; if the program stops in between, it reads them again. */
  readonly cursor: string;
  /** The cursor was too old, or the service was restored: this page begins the feed again. */
  readonly restarted: boolean;
}

/** Follows the feed of changes. Waits for new ones, and retries while the service is away. */
export async function* readFeed(options: FeedOptions): AsyncGenerator<FeedPage, void, void> {
  const { url, token, integration, type, limit = 200, retryMs = 5_000, signal } = options;
  let { after } = options;
  let restarted = false;
  while (signal?.aborted !== true) {
    const query = new URLSearchParams({ limit: String(limit), wait: '25' });
    for (const [name, value] of Object.entries({ after, integration, type })) if (value) query.set(name, value);
    const answer = await ask(`${url}/api/v1/changes?${query}`, token, signal);
    if (answer?.status === 410) {
      after = undefined;
      restarted = true;
    } else if (answer === undefined || answer.status === 429 || answer.status >= 500) {
      const askedMs = Number(answer?.retryAfter) * 1_000;
      const waitMs = askedMs > 0 ? Math.min(askedMs, mostWaitMs) : retryMs;
      await sleep(waitMs, undefined, { ...(signal && { signal }) }).catch(() => {});
    } else if (answer.status !== 200) {
      const { detail } = answer.body as { detail?: string };
      throw new Error(`The feed answered ${answer.status}. ${detail ?? ''}`);
    } else {
      const page = answer.body as Omit<FeedPage, 'restarted'>;
      after = page.cursor;
      yield { changes: page.changes, cursor: page.cursor, restarted };
      restarted = false;
    }
  }
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: unknown;
}

/** One request with its whole answer; undefined if there was none, or if it broke off. */
async function ask(url: string, token: string, signal: AbortSignal | undefined): Promise<Answer | undefined> {
  // Not AbortSignal.any, which Node 18 does not have.
  const either = new AbortController();
  const abort = () => either.abort();
  const late = setTimeout(abort, 60_000);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: either.signal });
    const isJson = answer.ok || (answer.headers.get('content-type') ?? '').includes('json');
    const body: unknown = isJson ? await answer.json() : {};
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body };
  } catch {
    return undefined;
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', abort);
  }
}
