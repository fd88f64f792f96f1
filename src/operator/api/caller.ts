import type { Runtime } from '../../runtime/runtime.ts';
import type { OnboardingLink } from '../store/onboarding.ts';
import { findToken, type TokenRole } from '../store/tokens.ts';

export const roles = ['viewer', 'operator', 'admin'] as const;
/** Each role includes the one before it: read; act; administer. */
export type Role = (typeof roles)[number];

/** `partner`: whoever opened an onboarding link. It can call the routes of that link and no others. */
export type CallerRole = TokenRole | 'partner';

/** The caller, as identified by its token. */
export interface Caller {
  readonly tokenId: string;
  /** The token that a session was created from, else the token itself. Limits per holder count by it. */
  readonly grantId: string;
  /** The token's name, written into the audit log. */
  readonly name: string;
  readonly role: CallerRole;
  /** The integrations it may see; undefined means all. */
  readonly integrations: readonly string[] | undefined;
  readonly kind: 'api' | 'session';
}

/** Who calls, or why nobody may. */
export type Identified =
  | { readonly kind: 'known'; readonly caller: Caller; readonly token?: string; readonly link?: OnboardingLink }
  | {
      readonly kind: 'refused';
      readonly status: 401 | 403 | 410;
      readonly code: 'operate.unauthorized' | 'operate.forbidden' | 'operate.link_ended';
      readonly detail: string;
    }
  | {
      readonly kind: 'wait';
      readonly status: 429;
      readonly code: 'operate.too_many_failures' | 'operate.busy';
      readonly detail: string;
      readonly seconds: number;
    };

/** A viewer sees guest data masked, so the feed would be useless to it. */
export function mayAs({ role }: Caller, needed: CallerRole): boolean {
  if (role === 'partner' || needed === 'partner') return role === needed;
  if (role === 'feed' || needed === 'feed') return needed === 'feed' && role !== 'viewer';
  return roles.indexOf(role) >= roles.indexOf(needed);
}

export function maySee(caller: Caller, integration: string): boolean {
  return caller.integrations === undefined || caller.integrations.includes(integration);
}

/** `use` records that the token was used; a session that is not used for some time ends. */
export async function callerOf({ pool }: Runtime, token: string, use: boolean): Promise<Caller | undefined> {
  const row = await findToken(pool, token, use);
  if (row === undefined || row.kind === 'sign_in') return undefined;
  const { token_id: tokenId, name, role, integrations, kind } = row;
  const grantId = row.subject ?? (kind === 'session' ? row.created_by : tokenId);
  return { tokenId, grantId, name, role, integrations: integrations ?? undefined, kind };
}

/** Innbound serves plain HTTP; its public address shows whether a proxy in front of it serves https. */
export function isServedOverHttps(runtime: Runtime): boolean {
  return runtime.active().settings.public_url?.startsWith('https:') ?? false;
}

/**
 * The forms of our cookies: of a session; of a sign-in at an identity provider that is in progress, sealed; and of a browser that opened an
 * onboarding link. The last is named by its link: a partner may connect several brands.
 */
const cookieForms = { session: /^[\w-]{8,200}$/, sign_in: /^[\w-]{1,4000}$/, link: /^[\w-]{40,60}$/ };
type CookieKind = keyof typeof cookieForms;

/** A browser sends a `__Host-` cookie only over https and only to the host that set it. Plain HTTP, on loopback, has no such cookie. */
export const cookieName = (secure: boolean, kind: CookieKind, linkId?: string): string =>
  `${secure ? '__Host-' : ''}innbound_${linkId ?? kind}`;

/** A sign-in is Lax and not Strict: the browser returns from another site. */
export function newCookie(secure: boolean, kind: CookieKind, value: string, maxAgeS: number, linkId?: string): string {
  const sameSite = kind === 'sign_in' ? 'Lax' : 'Strict';
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeS}${secure ? '; Secure' : ''}`;
  return `${cookieName(secure, kind, linkId)}=${value}; ${attributes}`;
}

/** The value of a cookie, if its form is one of ours. */
export function cookieIn(cookies = '', secure: boolean, kind: CookieKind, linkId?: string): string | undefined {
  const name = cookieName(secure, kind, linkId);
  const pairs = cookies.split(';').map((part) => part.trim().split('=', 2));
  return pairs.find(([key, value = '']) => key === name && cookieForms[kind].test(value))?.[1];
}

/**
 * A page of another site cannot set this header, because we allow no CORS. A session request with it comes from the console.
 */
export const consoleHeader = 'x-innbound-console';

/** The token of a request, and whether it came in the header or in the session cookie. */
export function shownToken(
  headers: { readonly authorization?: string | undefined; readonly cookie?: string | undefined },
  secure: boolean,
): { readonly token: string; readonly by: 'header' | 'cookie' } | undefined {
  const bearer = /^Bearer +([\w.~+/-]{8,200})$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return { token: bearer, by: 'header' };
  if (headers.authorization !== undefined) return undefined;
  const session = cookieIn(headers.cookie, secure, 'session');
  return session === undefined ? undefined : { token: session, by: 'cookie' };
}

export const secondsUntil = (time: Date | null, now: number): number =>
  Math.floor(((time?.getTime() ?? now) - now) / 1000);
