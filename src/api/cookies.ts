import { sessionCookie } from './caller.ts';

const attributes = (sameSite: 'Strict' | 'Lax', maxAgeS: number, secure: boolean): string =>
  `Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeS}${secure ? '; Secure' : ''}`;

export const secondsUntil = (time: Date | null, now: number): number =>
  Math.floor(((time?.getTime() ?? now) - now) / 1000);

export const sessionCookieOf = (secure: boolean, value: string, maxAgeS: number): string =>
  `${sessionCookie(secure)}=${value}; ${attributes('Strict', maxAgeS, secure)}`;

/** Holds a sign-in at an identity provider that is in progress. */
export const flowCookie = (secure: boolean): string => (secure ? '__Host-innbound_sign_in' : 'innbound_sign_in');

/** Lax and not Strict: the browser returns from another site. It holds only this sign-in, sealed. */
export const flowCookieOf = (secure: boolean, value: string, maxAgeS: number): string =>
  `${flowCookie(secure)}=${value}; ${attributes('Lax', maxAgeS, secure)}`;

/** A browser that opened an onboarding link. One cookie per link: a partner may connect several brands. */
export const browserCookie = (secure: boolean, linkId: string): string =>
  `${secure ? '__Host-' : ''}innbound_${linkId}`;

export const browserCookieOf = (secure: boolean, linkId: string, value: string, maxAgeS: number): string =>
  `${browserCookie(secure, linkId)}=${value}; ${attributes('Strict', maxAgeS, secure)}`;

/** The value that the browser keeps for the link, if its form is one of ours. */
export function browserOf(cookies: string, secure: boolean, linkId: string): string | undefined {
  const pairs = cookies.split(';').map((part) => part.trim().split('=', 2));
  const value = pairs.find(([name]) => name === browserCookie(secure, linkId))?.[1];
  return value !== undefined && /^[\w-]{40,60}$/.test(value) ? value : undefined;
}
