import type { JsonObject } from '../../../../src/terms.ts';
import type { Leaf } from '../leaf.ts';
import { leavesOf } from '../leaves.ts';
import { wordsOf } from '../words.ts';
import {
  type ApiDescription,
  isCredential,
  type Operation,
  type Parameter,
  type Proposed,
  type SecurityScheme,
} from './model.ts';
import { enumOf, setAt } from './schema.ts';
import { synthesize } from './synthesize.ts';

/** `auth` of an integration, and notes for the person. The credentials themselves are references to fill in. */
export interface ProposedAuth {
  readonly auth: JsonObject;
  /** Headers besides: an application key next to a token. */
  readonly headers: JsonObject;
  readonly notes: readonly string[];
}

export function findAuth(
  description: ApiDescription,
  operation: Operation,
  baseUrl: string | undefined,
): Proposed<ProposedAuth> {
  const token = tokenOperation(description, operation);
  const keys = operation.parameters.filter((one) => one.in === 'header' && one.required && isCredential(one));
  const fields = operation.parameters.filter((one) => one.in === 'body' && one.required && isCredential(one));
  const all = secretsOf(keys);
  const bearer = operation.parameters.find((one) => one.in === 'header' && one.name.toLowerCase() === 'authorization');
  const plainToken = { type: 'bearer', token: secret('token') };
  const as = (auth: JsonObject, confidence: number, reason: string, headers = {}, notes: readonly string[] = []) => ({
    value: { auth, headers, notes },
    confidence,
    reason,
  });

  // A description may name only the scheme of its token request; the header of the operation then says more.
  if (bearer !== undefined && /bearer|token/i.test(bearer.about) && token?.grants !== undefined) {
    const reason = `the operation needs a bearer token, which POST ${token.operation.path} issues`;
    return as(oauth2(token.grants, tokenUrl(baseUrl, token.operation.path)), 0.9, reason, all);
  }
  const issued = token?.grants === undefined ? token?.operation : undefined;
  const login = (header: string, carrier: string, notes: readonly string[] = []) => {
    const reason = `${carrier} carries a token, which POST ${issued?.path} issues`;
    return issued && as(loginOf(issued, header, secret), 0.85, reason, without(all, header), notes);
  };
  const schemes = schemesFor(description, operation).toSorted((a, b) => preference(b) - preference(a));
  const [scheme, ...others] = schemes;
  if (scheme !== undefined) {
    const notes = [
      ...(others.length === 0 ? [] : [`The description also offers ${others.map(({ type }) => type).join(', ')}.`]),
      ...(scheme.in === 'cookie' ? [expiryOf(scheme)] : []),
    ];
    const header = scheme.type === 'api_key' ? (scheme.key ?? 'Authorization') : 'Authorization';
    const isIssued = scheme.in !== 'query' && scheme.in !== 'cookie' && isTokenScheme(scheme);
    const reason = `the description’s security scheme ${scheme.name}`;
    return (
      (isIssued ? login(header, `the security scheme ${scheme.name}`, notes) : undefined) ??
      as(authOf(scheme, baseUrl, token), 0.9, reason, without(all, scheme.key), notes)
    );
  }
  const carrier = (bearer ?? keys.find(({ name }) => isTokenName(name)))?.name;
  const byLogin = carrier === undefined ? undefined : login(carrier, `the header ${carrier}`);
  if (byLogin !== undefined) return byLogin;
  if (bearer !== undefined) return as(plainToken, 0.8, 'the operation needs an Authorization header', all);
  const names = (ones: readonly Parameter[]) => ones.map(({ name }) => name).join(' and ');
  const [key, more] = keys;
  if (key !== undefined && more === undefined) {
    const auth = { type: 'api_key', header: key.name, key: secret(key.name) };
    return as(auth, 0.85, `the operation needs the header ${key.name}`);
  }
  if (keys.length > 1)
    return as({ type: 'custom', headers: all }, 0.9, `the operation needs the headers ${names(keys)}`);
  if (fields.length > 0) return as({ type: 'custom', body: secretsOf(fields) }, 0.9, `the body needs ${names(fields)}`);
  const reason = 'the description names no credentials; a bearer token is the most common way';
  return as(plainToken, 0.3, reason, {}, ['The description names no credentials.']);
}

const secretsOf = (parameters: readonly Parameter[]): JsonObject =>
  Object.fromEntries(parameters.map(({ name }) => [name, secret(name)]));

function schemesFor({ schemes }: ApiDescription, { security }: Operation): readonly SecurityScheme[] {
  const named = schemes.filter(({ name }) => security?.includes(name) === true);
  return named.length > 0 ? named : security === undefined ? schemes : [];
}

/** Methods that work without a person come first; a cookie is often that of a person’s session. */
function preference({ type, in: place, flows = [] }: SecurityScheme): number {
  if (type === 'oauth2') return flows.some(({ grant }) => grant === 'client_credentials') ? 5 : 1;
  if (place === 'cookie') return 1;
  return { api_key: 4, bearer: 3, basic: 2, other: 0 }[type];
}

function authOf(
  scheme: SecurityScheme,
  baseUrl: string | undefined,
  token: { readonly operation: Operation } | undefined,
): JsonObject {
  const { type, key = 'X-API-Key', flows = [] } = scheme;
  if (scheme.in === 'cookie') return { type: 'custom', headers: { Cookie: `${key}=${secret(key)}` } };
  // Swagger 2 knows no bearer scheme: descriptions write it as a key in this header.
  if (type === 'api_key' && key.toLowerCase() === 'authorization') return { type: 'bearer', token: secret('token') };
  if (type === 'api_key')
    return { type, ...(scheme.in === 'query' ? { query: key } : { header: key }), key: secret(key) };
  if (type === 'basic') return { type, username: secret('username'), password: secret('password') };
  if (type !== 'oauth2') return { type: 'bearer', token: secret('token') };
  const flow = flows.find(({ grant }) => grant === 'client_credentials') ?? flows[0];
  const url = flow?.tokenUrl ?? tokenUrl(baseUrl, token?.operation.path ?? '/oauth/token');
  return oauth2([flow?.grant ?? 'client_credentials'], url, flow?.scopes);
}

const expiryOf = ({ key }: SecurityScheme) =>
  `The cookie ${key} is sent with a value that never changes. If a login sets it, it expires: ask the partner for a key that lasts.`;

function oauth2(grants: readonly string[], token_url: string, scopes: readonly string[] = []): JsonObject {
  const machine = grants.includes('client_credentials') || !grants.includes('authorization_code');
  const reading = scopes.filter((scope) => /read|view/i.test(scope));
  return {
    type: 'oauth2',
    grant: machine ? 'client_credentials' : 'authorization_code',
    token_url,
    ...(!machine && { authorize_url: token_url.replace(/[^/]*$/, 'authorize') }),
    client_id: secret('client_id'),
    client_secret: secret('client_secret'),
    ...(reading.length > 0 && { scopes: reading }),
  };
}

function tokenUrl(baseUrl: string | undefined, path: string): string {
  return `${(baseUrl ?? 'https://pms.example').replace(/\/$/, '')}${path}`;
}

/** The operation that issues tokens, with its grants if it is OAuth. */
function tokenOperation(
  { operations }: ApiDescription,
  list: Operation,
): { readonly operation: Operation; readonly grants?: readonly string[] } | undefined {
  for (const operation of operations) {
    const words = wordsOf(operation.path.split('/').at(-1) ?? '');
    if (
      operation === list ||
      operation.method !== 'POST' ||
      !words.some((word) =>
        /^(?:auth)?tokens?$|^log(?:in|on)$|^sign(?:in|on)$|^auth(?:enticate|entication|orize)?$|^sessions?$/.test(word),
      )
    )
      continue;
    const grant = operation.parameters.find(({ name }) => /^grant_?type$/i.test(name));
    if (grant === undefined) return { operation };
    const grants = enumOf(grant.schema).map(String);
    return { operation, grants: grants.length === 0 ? ['client_credentials'] : grants };
  }
  return undefined;
}

const isTokenName = (name: string) => wordsOf(name).some((word) => /token$|^session$|^jwt$/.test(word));

/** A fixed key does not come from a login. */
const isTokenScheme = ({ type, key = '' }: SecurityScheme) =>
  type === 'bearer' || (type === 'api_key' && (isTokenName(key) || key.toLowerCase() === 'authorization'));

function without(headers: JsonObject, key: string | undefined): JsonObject {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== key?.toLowerCase()));
}

function secret(name: string): string {
  return `\${secret:${wordsOf(name).join('-') || 'key'}}`;
}

/** `auth: { type: login }`: a token from the partner's login call, in the header that the list needs. */
function loginOf(operation: Operation, header: string, secret: (name: string) => string): JsonObject {
  const answer = operation.sample ?? (operation.response === undefined ? undefined : synthesize(operation.response));
  const places = answer === undefined ? [] : leavesOf([answer]).filter(({ kind }) => kind === 'value');
  const token = places.find(({ own }) => isToken(own) && !own.includes('refresh')) ?? places.find(isOnlyText);
  const lifetime = places.find(
    ({ own, values: [value] }) => own.some((word) => /^expir/.test(word)) && typeof value === 'number',
  );
  const isBearer = header.toLowerCase() === 'authorization';
  const body: JsonObject = {};
  for (const { name } of fieldsOf(operation)) setAt(body, name.split('.'), secret(name.split('.').at(-1) ?? name));
  return {
    type: 'login',
    path: operation.path,
    ...(operation.bodyType?.includes('form-urlencoded') === true && { encoding: 'form' }),
    ...(Object.keys(body).length > 0 && { body }),
    ...(token !== undefined && token.path !== 'token' && { token: token.path }),
    ...(lifetime !== undefined && { expires_in: lifetime.path }),
    ...(!isBearer && { header, value: '{token}' }),
  };
}

/** The required fields; all of them where the description marks none. */
function fieldsOf({ parameters }: Operation): readonly Parameter[] {
  const body = parameters.filter((one) => one.in === 'body');
  const required = body.filter((one) => one.required);
  return required.length > 0 ? required : body;
}

const isToken = (words: readonly string[]) => words.some((word) => word === 'token' || word === 'jwt');
const isOnlyText = ({ values: [value], own }: Leaf, _index: number, all: readonly Leaf[]) =>
  typeof value === 'string' && (all.length === 1 || own.some((word) => ['session', 'key', 'ticket'].includes(word)));
