import { sessionCookie } from './caller.ts';

const attributes = (sameSite: 'Strict' | 'Lax', maxAgeS: number, secure: boolean): string =>
  `Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeS}${secure ? '; Secure' : ''}`;

export const sessionCookieOf = (secure: boolean, value: string, maxAgeS: number): string =>
  `${sessionCookie(secure)}=${value}; ${attributes('Strict', maxAgeS, secure)}`;

/** A sign-in at an identity provider that has begun. */
export const flowCookie = (secure: boolean): string => (secure ? '__Host-innbound_sign_in' : 'innbound_sign_in');

/** Lax and not Strict: the browser comes back from another site. It holds nothing but this sign-in, sealed. */
export const flowCookieOf = (secure: boolean, value: string, maxAgeS: number): string =>
  `${flowCookie(secure)}=${value}; ${attributes('Lax', maxAgeS, secure)}`;
