import type { ErrorEntry } from './entry.ts';

export const deliverErrors = {} as const satisfies Record<string, ErrorEntry>;
