import { deliverErrors } from './errors/deliver.ts';
import { documentErrors } from './errors/documents.ts';
import type { ErrorEntry } from './errors/entry.ts';
import { operateErrors } from './errors/operate.ts';
import { pullErrors } from './errors/pull.ts';
import { pushErrors } from './errors/push.ts';
import { recordErrors } from './errors/record.ts';
import { storeErrors } from './errors/store.ts';

/** The registry of all codes. test/errors.test.ts compares it with docs/errors.md in both directions. */
export const errors = {
  ...documentErrors,
  ...pullErrors,
  ...pushErrors,
  ...recordErrors,
  ...deliverErrors,
  ...storeErrors,
  ...operateErrors,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;

/** Thrown only where no value can carry the failure: a broken setup, an unreachable store, a command that cannot continue. */
export class InnboundError extends Error {
  readonly code: ErrorCode;
  readonly detail: Readonly<Record<string, unknown>>;
  constructor(code: ErrorCode, message: string, detail: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'InnboundError';
    this.code = code;
    this.detail = detail;
  }
  get next(): string {
    return errors[this.code].next;
  }
}
