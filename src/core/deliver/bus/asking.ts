import type { HttpAnswer } from '../../outbound/http.ts';
import type { DeliverLimits, DestinationServices, Outcome, PreparedStep } from '../destination.ts';
import { outcomeOf } from '../http-answer.ts';
import { type Codes, never } from './failure.ts';

/** A request to a bus over HTTP. */
interface Asked {
  readonly url: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Said = { readonly answer: HttpAnswer; readonly text: string } | { readonly failure: Outcome };

/** One request. A failure without an answer is the outcome of all that it would have sent. */
export async function ask(
  { http, clock }: Pick<DestinationServices, 'http' | 'clock'>,
  { url, method, headers, body }: Asked,
  limits?: Pick<DeliverLimits, 'deadlineMs' | 'signal' | 'traceparent'>,
): Promise<Said> {
  const deadlineMs = limits?.deadlineMs ?? 20_000;
  const answered = await http.request({
    method: method ?? 'POST',
    url,
    headers: { ...headers, ...(limits?.traceparent !== undefined && { traceparent: limits.traceparent }) },
    ...(body !== undefined && { body }),
    deadlineMs,
    idleMs: deadlineMs,
    expects: 'short',
    ...(limits && { signal: limits.signal }),
  });
  if (answered.kind === 'failed') return { failure: outcomeOf(answered, clock.now(), undefined) };
  return { answer: answered, text: new TextDecoder().decode(answered.bytes) };
}

/** The code of a vendor in an answer; anything else may quote what was sent. */
export const vendorCode = (text: string | undefined): string =>
  /^[A-Za-z][\w.]{1,79}$/.exec(text ?? '')?.[0] ?? 'no code';

/** For `destination prepare`: what a request that reads says. A right to read is not needed for deliveries. */
export function seen(
  label: string,
  what: string,
  said: Said,
  {
    isMissing,
    message,
  }: { readonly isMissing: (text: string, status: number) => boolean; readonly message: (text: string) => string },
): PreparedStep {
  if ('failure' in said) {
    return { what, result: 'failed', message: 'message' in said.failure ? said.failure.message : label };
  }
  const { answer, text } = said;
  if (answer.status < 300) return { what, result: 'exists', message: message(text) };
  if (isMissing(text, answer.status))
    return { what, result: 'failed', message: `${label} does not have it: create it.` };
  return {
    what,
    result: 'unknown',
    message: `${label} answered ${answer.status}: these credentials may not read it. ${message('')}`,
  };
}

/** Signing may fail, where the identity of the machine is not found; the rest are answers. */
export const httpCodes: Codes = { auth: /CredentialsProvider/, mismatch: never, tooLarge: never, refused: never };
