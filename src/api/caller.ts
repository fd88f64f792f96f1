export const roles = ['viewer', 'operator', 'admin'] as const;
/** Each may do what the one before it may: look; act; decide who may. */
export type Role = (typeof roles)[number];

/** Who calls, as its token says. */
export interface Caller {
  readonly tokenId: string;
  /** As people named the token; written into the audit. */
  readonly name: string;
  readonly role: Role;
  /** The brands it may see; undefined means all of them. */
  readonly integrations: readonly string[] | undefined;
  readonly kind: 'api' | 'session';
}

export function mayAs(caller: Caller, needed: Role): boolean {
  return roles.indexOf(caller.role) >= roles.indexOf(needed);
}

export function maySee(caller: Caller, integration: string): boolean {
  return caller.integrations === undefined || caller.integrations.includes(integration);
}

export const sessionCookie = 'innbound_session';
/**
 * A page of another site cannot send it without our leave (no CORS is granted), so a request that carries it and a session
 * was made by the console.
 */
export const consoleHeader = 'x-innbound-console';

/** The token of a request, and how it was shown. */
export function shownToken(headers: {
  readonly authorization?: string | undefined;
  readonly cookie?: string | undefined;
}): { readonly token: string; readonly by: 'header' | 'cookie' } | undefined {
  const bearer = /^Bearer +([\w.~+/-]{8,200})$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return { token: bearer, by: 'header' };
  if (headers.authorization !== undefined) return undefined;
  for (const part of (headers.cookie ?? '').split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === sessionCookie && value !== undefined && /^[\w-]{8,200}$/.test(value)) {
      return { token: value, by: 'cookie' };
    }
  }
  return undefined;
}
