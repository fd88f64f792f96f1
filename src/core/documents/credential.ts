/**
 * Which texts of a document are credentials. A schema says so with `writeOnly: true` (always), or with `credential` for fields
 * that hold a credential only sometimes. In doubt a text counts as one: it is then sealed and shown as a reference,
 * which is a small inconvenience, while a credential that is treated as plain text stays readable for ever.
 */
export type CredentialRule =
  /** A URL: where it has a user, a password, or a query with values. */
  | 'url'
  /** Free text such as a request body: by its key, or by its look. */
  | 'likely'
  /** A header made from a template: where it is a fixed text, such as a key sent beside a signature. */
  | 'fixed'
  /** Always, except for these keys, which are treated as URLs. In lower case. */
  | { readonly except: readonly string[] };

const credentialKey =
  /(?:^|[_\-.])(?:key|token|secret|password|passwd|pwd|pass|pin|auth|authorization|credentials?|signature|sig|bearer|cookie|session)(?:$|[_\-.])|(?:key|token|secret|password|credential|authorization)$/i;
/** Random characters as keys and tokens have them: letters and digits mixed, no spaces. */
const tokenLook = /^(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9+/_=.~-]{20,}$/;
const authLook = /^(?:bearer|basic|token|apikey|digest)\s+\S/i;
const plainQueryValue = /^(?:|true|false|\d{1,4}|json|xml|v?\d+(?:\.\d+){0,2}|\{[^{}]*\})$/i;

export function isCredential(rule: CredentialRule, key: string, value: string): boolean {
  if (rule === 'url') return hasUrlCredential(value);
  if (rule === 'likely') return credentialKey.test(key) ? !onlyPlaceholders(value) : looksLikeCredential(value);
  if (rule === 'fixed') return !plainHeaders.includes(key.toLowerCase()) && !/\{[^{}]+\}/.test(value);
  return rule.except.includes(key.toLowerCase()) ? hasUrlCredential(value) : !onlyPlaceholders(value);
}

function looksLikeCredential(value: string): boolean {
  return authLook.test(value) ? !onlyPlaceholders(value) : tokenLook.test(value) || hasUrlCredential(value);
}

/** {with.token}, Bearer {with.token}: the value comes from elsewhere. */
function onlyPlaceholders(value: string): boolean {
  return /\{[^{}]+\}/.test(value) && /^(?:\w+\s+)?(?:\{[^{}]+\}[\s.:/_-]*)+$/.test(value);
}

function hasUrlCredential(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return false;
  const url = URL.parse(value.replace(/\{[^{}]*\}/g, (placeholder) => encodeURIComponent(placeholder)));
  // What cannot be parsed cannot be looked into either.
  if (url === null) return /[@?]/.test(value);
  if (url.username !== '' || url.password !== '') return true;
  return [...url.searchParams.values()].some((one) => !plainQueryValue.test(one));
}

/** Headers that say what a message is, not who sends it. */
export const plainHeaders: readonly string[] = [
  'accept',
  'accept-language',
  'cache-control',
  'content-language',
  'content-type',
  'idempotency-key',
  'prefer',
  'user-agent',
];
