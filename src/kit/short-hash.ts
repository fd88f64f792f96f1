import { hash } from 'node:crypto';

/** 52 bits of a text, never 0: among a million texts the chance of a collision is 1 in 9,000. Not for secrets. */
export const shortHash = (text: string): number => Number.parseInt(hash('sha256', text).slice(0, 13), 16) || 1;
