import * as oauth from 'oauth4webapi';
import { foreignText } from '../kit/foreign-text.ts';

/** A refusal in our own words, for the person and the log. */
export class Refusal extends Error {}

/** For anybody: the words of the library and of the network name hosts and checks, so they are for the log alone. */
export function shownReason(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return `the provider answered ${foreignText(error.error)}`;
  }
  return 'the identity provider cannot be reached, or its answer is not valid';
}

/** Errors of the library name the check that failed, not the values. */
export function loggedReason(error: unknown): string {
  const isOurs = !(error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError);
  return isOurs && error instanceof Error ? error.message.slice(0, 200) : shownReason(error);
}

/** Clocks differ a little. */
const skewMs = 30_000;

/** Throws for the claims that the library does not check: a subject that names nobody, and a token from the future. */
export function checkSubjectAndTime({ sub, iat }: { sub?: unknown; iat?: unknown }, nowMs: number): void {
  if (typeof sub !== 'string' || sub.trim() === '') throw new Refusal('the token names no subject');
  if (typeof iat !== 'number' || iat * 1000 > nowMs + skewMs) throw new Refusal('the token was issued in the future');
}
