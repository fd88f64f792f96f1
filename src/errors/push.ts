import type { ErrorEntry } from './entry.ts';

export const pushErrors = {} as const satisfies Record<string, ErrorEntry>;
