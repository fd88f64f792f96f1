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
  const code = [...new Set(known)].slice(-2).join(', ') || 'no code';
  if (codes.tooLarge.test(said)) {
    const message = `${label} refuses the size: ${code}. Its limit is lower than the one that is set here.`;
    return { kind: 'dead', code: 'deliver.too_large', message, whole: messages > 1 };
  }
  if (codes.auth.test(said) || refusedCertificate.test(said)) {
    return { kind: 'retry', code: 'deliver.auth_failed', message: `${label} refuses the login or the right: ${code}.` };
  }
  if (codes.mismatch.test(said)) {
    const message = `${label} does not have what the destination names: ${code}.`;
    return { kind: 'retry', code: 'deliver.bus_mismatch', message };
  }
  if (codes.refused.test(said)) {
    return { kind: 'dead', code: 'deliver.refused', message: `${label} refuses it: ${code}.`, whole: messages > 1 };
  }
  return {
    kind: 'retry',
    code: 'deliver.unreachable',
    message: `${label} cannot be reached: ${code}.`,
    mayHaveArrived: true,
  };
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
