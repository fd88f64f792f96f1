import {
  type ApiDescription,
  type Operation,
  type Parameter,
  type SecurityScheme,
  textOf,
} from '../../../../packages/suggest/src/index.ts';
import { parseForeignJson } from '../../../kit/json.ts';
import { isObject, type Json, type JsonObject } from '../../../terms.ts';

/** A Postman collection (v2.0, v2.1): requests with their parameters, and saved responses as samples. Variables without a value keep their names. */
export function readPostman(written: JsonObject): ApiDescription {
  const values = new Map(
    listOf(written.variable).map((one) => [textOf(one.key ?? one.id), textOf(one.value)] as const),
  );
  const filled = JSON.stringify(written).replace(/\{\{([^}]+)\}\}/g, (_whole, name: string) =>
    JSON.stringify(values.get(name.trim()) || `{${name.trim()}}`).slice(1, -1),
  );
  const collection = JSON.parse(filled) as JsonObject;
  const requests = requestsOf(collection.item, collection.auth);
  const hosts = requests.flatMap(({ request }) => /^https?:\/\/[^/?]+/.exec(urlText(request)) ?? []);
  const schemes = requests.flatMap(({ auth }) => schemeOf(auth) ?? []);
  return {
    ...(isObject(collection.info) && { title: textOf(collection.info.name) }),
    servers: [...new Set(hosts)],
    schemes: [...new Map(schemes.map((scheme) => [scheme.name, scheme])).values()],
    operations: requests.map(operationOf),
  };
}

interface Request {
  readonly item: JsonObject;
  readonly request: JsonObject;
  readonly auth: Json | undefined;
}

/** Folders may be nested; requests inherit their auth. */
function requestsOf(items: Json | undefined, auth: Json | undefined): Request[] {
  return listOf(items).flatMap((item) => {
    const own = item.auth ?? auth;
    const { request } = item;
    if (Array.isArray(item.item)) return requestsOf(item.item, own);
    return isObject(request) ? [{ item, request, auth: request.auth ?? own }] : [];
  });
}

function operationOf({ item, request, auth }: Request): Operation {
  const body = bodyOf(request.body);
  const sample = sampleOf(item.response);
  const scheme = schemeOf(auth);
  const [address = '', query = ''] = urlText(request).split('?');
  const path = address.replace(/^https?:\/\/[^/]*|^\{[^}]+\}/, '');
  const asked = isObject(request.url) && Array.isArray(request.url.query) ? request.url.query : undefined;
  return {
    method: textOf(request.method) || 'GET',
    // Postman writes path variables as :id.
    path: `/${path.replace(/^\//, '')}`.replace(/\/:(\w+)/g, '/{$1}'),
    about: [item.name, request.description].map(textOf).join(' '),
    parameters: [
      ...listOf(asked ?? [...new URLSearchParams(query)].map(([key, value]) => ({ key, value }))).map((one) =>
        parameter('query', one),
      ),
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

const urlText = ({ url }: JsonObject): string => textOf(isObject(url) ? url.raw : url);

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
  const good = listOf(responses).filter(({ code }) => !(Number(code) >= 300));
  return good.map(({ body }) => jsonOf(textOf(body))).find((value) => value !== undefined);
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
