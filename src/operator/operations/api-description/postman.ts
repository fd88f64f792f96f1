import {
  type ApiDescription,
  type Operation,
  type Parameter,
  type SecurityScheme,
  textOf,
} from '../../../../packages/suggest/src/index.ts';
import { parseForeignJson } from '../../../kit/json.ts';
import { isObject, type Json, type JsonObject } from '../../../terms.ts';

/** A Postman collection (v2.0, v2.1): requests with their parameters, and saved responses as samples. Variables keep their names. */
export function readPostman(collection: JsonObject): ApiDescription {
  const variables = new Map(
    listOf(collection.variable).map((one) => [textOf(one.key ?? one.id), textOf(one.value)] as const),
  );
  const filled = (text: string) =>
    text.replace(/\{\{([^}]+)\}\}/g, (_whole, name: string) => variables.get(name.trim()) || `{${name.trim()}}`);
  const requests = requestsOf(collection.item, collection.auth);
  const operations = requests.map(({ item, auth }) => operationOf(item, auth, filled));
  const schemes = new Map(requests.map(({ auth }) => schemeOf(auth)).map((scheme) => [scheme?.name, scheme]));
  return {
    ...(isObject(collection.info) && { title: textOf(collection.info.name) }),
    servers: [...new Set(requests.map(({ item }) => hostOf(item, filled)))].filter((url) => /^https?:/.test(url)),
    schemes: [...schemes.values()].filter((scheme) => scheme !== undefined),
    operations,
  };
}

interface Request {
  readonly item: JsonObject;
  readonly auth: Json | undefined;
}

/** Folders may be nested; requests inherit their auth. */
function requestsOf(items: Json | undefined, auth: Json | undefined, depth = 0): Request[] {
  if (depth > 10) return [];
  return listOf(items).flatMap((item) => {
    const own = item.auth ?? auth;
    if (Array.isArray(item.item)) return requestsOf(item.item, own, depth + 1);
    return isObject(item.request) ? [{ item, auth: item.request.auth ?? own }] : [];
  });
}

function operationOf(item: JsonObject, auth: Json | undefined, filled: (text: string) => string): Operation {
  const request = isObject(item.request) ? item.request : {};
  const body = bodyOf(request.body);
  const sample = sampleOf(item.response);
  const scheme = schemeOf(auth);
  return {
    method: textOf(request.method) || 'GET',
    path: pathOf(request.url, filled),
    about: [item.name, request.description].map(textOf).join(' '),
    parameters: [
      ...queryOf(request.url),
      ...listOf(request.header)
        .filter((one) => !/^(?:content-type|accept|user-agent|cache-control)$/i.test(textOf(one.key)))
        .map((one) => ({ ...parameter('header', one), required: true })),
      ...body.fields,
    ],
    ...(body.type !== undefined && { bodyType: body.type }),
    ...(sample !== undefined && { sample }),
    ...(scheme !== undefined && { security: [scheme.name] }),
  };
}

function urlText(url: Json | undefined): string {
  return isObject(url) ? textOf(url.raw) : textOf(url);
}

function pathOf(url: Json | undefined, filled: (text: string) => string): string {
  const text = filled(urlText(url)).split('?')[0] ?? '';
  const path = text.replace(/^https?:\/\/[^/]*/, '').replace(/^\{[^}]+\}/, '');
  // Postman writes path variables as :id.
  return `/${path.replace(/^\//, '')}`.replace(/\/:(\w+)/g, '/{$1}');
}

function hostOf(item: JsonObject, filled: (text: string) => string): string {
  const url = isObject(item.request) ? filled(urlText(item.request.url)) : '';
  return /^https?:\/\/[^/?]+/.exec(url)?.[0] ?? '';
}

function queryOf(url: Json | undefined): Parameter[] {
  if (isObject(url) && Array.isArray(url.query)) return listOf(url.query).map((one) => parameter('query', one));
  const query = urlText(url).split('?')[1] ?? '';
  return [...new URLSearchParams(query)].map(([key, value]) => parameter('query', { key, value }));
}

function bodyOf(body: Json | undefined): { readonly type?: string; readonly fields: readonly Parameter[] } {
  if (!isObject(body)) return { fields: [] };
  if (body.mode === 'urlencoded') {
    const fields = listOf(body.urlencoded).map((one) => parameter('body', one));
    return { type: 'application/x-www-form-urlencoded', fields };
  }
  const value = jsonOf(textOf(body.raw));
  if (!isObject(value)) return { fields: [] };
  return { type: 'application/json', fields: fieldsIn(value, '', 0) };
}

/** Fields of a body by their paths: filter.arrival.from. */
function fieldsIn(value: JsonObject, path: string, depth: number): Parameter[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const key = path === '' ? name : `${path}.${name}`;
    return isObject(inner) && depth < 4 ? fieldsIn(inner, key, depth + 1) : [parameter('body', { key, value: inner })];
  });
}

function parameter(place: Parameter['in'], one: JsonObject): Parameter {
  const value = one.value ?? null;
  const type = Array.isArray(value) ? 'array' : typeof value === 'number' ? 'integer' : 'string';
  const isDate = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value);
  return {
    in: place,
    name: textOf(one.key),
    about: isObject(one.description) ? textOf(one.description.content) : textOf(one.description),
    required: false,
    schema: { type, ...(isDate && { format: 'date' }), ...(value !== null && { example: value }) },
  };
}

/** The first saved response that is JSON and not an error. */
function sampleOf(responses: Json | undefined): Json | undefined {
  for (const response of listOf(responses)) {
    if (typeof response.code === 'number' && response.code >= 300) continue;
    const value = jsonOf(textOf(response.body));
    if (value !== undefined) return value;
  }
  return undefined;
}

function schemeOf(auth: Json | undefined): SecurityScheme | undefined {
  if (!isObject(auth)) return undefined;
  const type = textOf(auth.type);
  const settings = new Map(listOf(auth[type]).map((one) => [textOf(one.key), textOf(one.value)]));
  switch (type) {
    case 'bearer':
    case 'basic':
      return { name: type, type };
    case 'apikey':
      return {
        name: type,
        type: 'api_key',
        in: settings.get('in') === 'query' ? 'query' : 'header',
        key: settings.get('key') ?? 'X-API-Key',
      };
    case 'oauth2': {
      const tokenUrl = settings.get('accessTokenUrl');
      const grant = settings.get('grant_type') ?? 'client_credentials';
      return { name: type, type, flows: [{ grant, scopes: [], ...(tokenUrl !== undefined && { tokenUrl }) }] };
    }
    default:
      return undefined;
  }
}

function jsonOf(text: string): Json | undefined {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}

function listOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
