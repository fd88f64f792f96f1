import { retryAfterMs } from './backoff.ts';
import type { Failure, Letter } from './letter.ts';
import type { WebhookSenderOptions } from './options.ts';
import { signedHeaders } from './sign.ts';

export type PostOutcome =
  | { readonly kind: 'delivered'; readonly status: number; readonly duplicate: boolean }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly retryAfterMs?: number }
  | { readonly kind: 'cut' };

/** One attempt, signed at the moment it is sent. Any 2xx means accepted; anything else, including a redirect, is a failure. */
export async function post(
  options: WebhookSenderOptions,
  letter: Letter,
  now: () => number,
  cut: AbortSignal,
): Promise<PostOutcome> {
  try {
    const response = await (options.fetch ?? fetch)(options.url, {
      method: 'POST',
      headers: signedHeaders(options.secret, Math.floor(now() / 1000), letter.body),
      body: letter.body,
      redirect: 'manual',
      signal: AbortSignal.any([cut, AbortSignal.timeout(options.timeoutMs ?? 15_000)]),
    });
    const answer = await startOf(response);
    if (response.ok) return { kind: 'delivered', status: response.status, duplicate: saysDuplicate(answer) };
    const after = retryAfterMs(response.headers.get('retry-after'), now());
    const failure = { status: response.status, message: `The endpoint answered ${response.status}${reason(answer)}.` };
    return after === undefined ? { kind: 'failed', failure } : { kind: 'failed', failure, retryAfterMs: after };
  } catch (error) {
    if (cut.aborted) return { kind: 'cut' };
    return { kind: 'failed', failure: { message: `No answer: ${cause(error)}.` } };
  }
}

/** The first 16 KiB: an endless answer must not fill the sender's memory. */
async function startOf(response: Response): Promise<string> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= 16_384) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function saysDuplicate(answer: string): boolean {
  return field(answer, 'status') === 'duplicate';
}

/** The stable code of a problem document, for display after the status: ` (push.signature)`. Free text is omitted: it may be a whole page. */
function reason(answer: string): string {
  const code = field(answer, 'code');
  return typeof code === 'string' && /^[\w.-]{1,60}$/.test(code) ? ` (${code})` : '';
}

/** Never fails: an unreadable answer yields nothing. */
function field(answer: string, name: string): unknown {
  try {
    const parsed: unknown = JSON.parse(answer);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}

/** Why fetch failed: its message says only "fetch failed"; the cause has the code. */
export function cause(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if (error.name === 'TimeoutError') return 'timed out';
  const inner = error.cause;
  if (inner instanceof Error) return (inner as NodeJS.ErrnoException).code ?? inner.message;
  return error.message;
}
