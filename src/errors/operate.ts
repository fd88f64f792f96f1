import type { ErrorEntry } from './entry.ts';

export const operateErrors = {} as const satisfies Record<string, ErrorEntry>;
