import { createHash, timingSafeEqual } from 'node:crypto';
import type { Exchange } from '../exchange.ts';

/** Why a request is refused; undefined if it is allowed. */
export type Guard = (exchange: Exchange) => string | undefined;

export function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
