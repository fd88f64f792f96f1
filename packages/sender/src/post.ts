import { cause, reason, saysDuplicate, startOf } from './answer.ts';
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
