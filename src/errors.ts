import { deliverErrors } from './errors/deliver.ts';
import { documentErrors } from './errors/documents.ts';
import type { ErrorEntry } from './errors/entry.ts';
import { operateErrors } from './errors/operate.ts';
import { pullErrors } from './errors/pull.ts';
import { pushErrors } from './errors/push.ts';
import { recordErrors } from './errors/record.ts';
import { storeErrors } from './errors/store.ts';

/** All codes. test/errors.test.ts compares them with docs/errors.md in both directions. */
const registry = {
  ...documentErrors,
  ...pullErrors,
  ...pushErrors,
  ...recordErrors,
  ...deliverErrors,
  ...storeErrors,
  ...operateErrors,
};

export type ErrorCode = keyof typeof registry;
export const errors: Readonly<Record<ErrorCode, ErrorEntry>> = registry;

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
