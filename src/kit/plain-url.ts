/** Scheme, authority and path, as written: a parser would already have resolved what is looked for. */
const parts = /^(?:https?|wss?):\/\/([^/?#]*)([^?#]*)/i;

/**
 * Why a URL with all its values filled in is not the one that its document describes; undefined if it is. Every request is asked this where
 * it is sent: pulls, streams, destinations, credentials and tests of all of them. Values are encoded, so the rest cannot come from a record.
 */
export function urlFault(url: string): string | undefined {
  const [, authority = '', path = ''] = parts.exec(url) ?? [];
  if (authority === '' || !URL.canParse(url)) return 'the address is not a plain http or https URL';
  // A parser drops control characters and reads a backslash as a slash.
  if (/[\p{Cc}]/u.test(url) || /[\s\\]/.test(authority + path.replaceAll(' ', '')))
    return 'the address has a line break, a control character or a backslash';
  if (authority.includes('@')) return 'the address has a user name: credentials belong into auth';
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    return 'a value of "." or ".." would change the path of the request';
  return undefined;
}

/** A value as one part of a URL. Half of a surrogate pair, which JSON may hold, has no encoding. */
export const urlPart = (value: string): string => encodeURIComponent(value.toWellFormed());
