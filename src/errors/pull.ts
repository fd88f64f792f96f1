import type { ErrorEntry } from './entry.ts';

export const pullErrors = {} as const satisfies Record<string, ErrorEntry>;
