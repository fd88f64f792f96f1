import type { ErrorCode } from '../../../errors.ts';
import { BlockedAddress } from '../../outbound/http/connect.ts';
import type { Outcome } from '../destination.ts';

/** Codes of a client library, or of the broker, by what they mean. */
export interface Codes {
  readonly auth: RegExp;
  /** Topic, queue, stream or exchange do not exist, or do not take this. */
  readonly mismatch: RegExp;
  readonly tooLarge: RegExp;
  /** The broker does not take this message, whatever the reason. */
  readonly refused: RegExp;
}

export const never = /^(?!)/;

const refusedCertificate = /_ALERT_(?:\w*CERTIFICATE|UNKNOWN_CA)/;

/** The broker answered, and did not take the message. */
export class NotTaken extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

export type Meaning = keyof Codes | 'slow' | 'again' | 'away';

const slowDownMs = 2_000;

/** What a code of a bus means for the messages of a request. `whole`: there were several, and one may be to blame. */
export function refusal(
  label: string,
  meaning: Meaning,
  code: string,
  { status, whole = false }: { readonly status?: number; readonly whole?: boolean } = {},
): Outcome {
  const known = status === undefined ? {} : { status };
  const retry = (as: ErrorCode, said: string) => ({ kind: 'retry', code: as, message: `${label} ${said}.` }) as const;
  const dead = (as: ErrorCode, said: string) =>
    ({ kind: 'dead', code: as, message: `${label} ${said}.`, whole, ...known }) as const;
  switch (meaning) {
    case 'auth':
      // Without a status: no record is to blame.
      return retry('deliver.auth_failed', `refuses the login or the right: ${code}`);
    case 'mismatch':
      return retry('deliver.bus_mismatch', `does not have what the destination names: ${code}`);
    case 'slow':
      return {
        ...retry('deliver.rate_limited', `asks to slow down: ${code}`),
        afterMs: slowDownMs,
        free: true,
        ...known,
      };
    case 'again':
      return { ...retry('deliver.server_error', `failed: ${code}`), mayHaveArrived: true, ...known };
    case 'away':
      return { ...retry('deliver.unreachable', `cannot be reached: ${code}`), mayHaveArrived: true };
    case 'tooLarge':
      return dead('deliver.too_large', `refuses the size: ${code}. Its limit is lower than the one that is set here`);
    case 'refused':
      return dead('deliver.refused', `refuses it: ${code}`);
  }
}

/** What a failure of a call means for its messages. Only codes are kept: a message of a broker may quote what was sent. */
export function failureOf(
  { label, codes }: { readonly label: string; readonly codes: Codes },
  error: unknown,
  messages: number,
): Outcome {
  const causes = [...allCauses(error)];
  const blocked = causes.find((cause) => cause instanceof BlockedAddress);
  if (blocked !== undefined) return { kind: 'dead', code: 'deliver.blocked_address', message: `${blocked.message}.` };
  const known = causes.flatMap(codesOf);
  const said = known.join(' ');
  const named = (['tooLarge', 'auth', 'mismatch', 'refused'] as const).find((one) => codes[one].test(said));
  const meaning = named !== 'tooLarge' && refusedCertificate.test(said) ? 'auth' : (named ?? 'away');
  const code = [...new Set(known)].slice(-2).join(', ') || 'no code';
  return refusal(label, meaning, code, { whole: messages > 1 });
}

/** The error, what caused it and what it consists of. */
function* allCauses(error: unknown, seen = new Set<unknown>()): Generator<Error> {
  if (!(error instanceof Error) || seen.has(error)) return;
  seen.add(error);
  yield error;
  for (const inner of [error.cause, ...((error as AggregateError).errors ?? [])]) yield* allCauses(inner, seen);
}

/** Names that a library or a system gives its errors; texts are left out. */
function codesOf(error: Error): string[] {
  const { code, apiId, name } = error as Error & { code?: unknown; apiId?: unknown };
  return [name, code, apiId].flatMap((text) => (/^\w{2,60}$/.test(String(text ?? '')) ? [String(text)] : []));
}
