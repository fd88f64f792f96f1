import {
  type ApiDescription,
  exampleOf,
  flattened,
  type Operation,
  type Parameter,
  propertiesOf,
  type SecurityScheme,
  textOf,
  typeOf,
} from '../../../../packages/suggest/src/index.ts';
import { isObject, type Json, type JsonObject } from '../../../terms.ts';

const methods = ['get', 'post', 'put'] as const;

/** Swagger 2 and OpenAPI 3 alike: upgraded to 3.1, then with every reference resolved. */
export async function readOpenApi(source: JsonObject): Promise<ApiDescription> {
  // Loaded here, because no other command needs them.
  const [{ upgrade }, { Validator }] = await Promise.all([
    import('@scalar/openapi-upgrader'),
    import('@seriousme/openapi-schema-validator'),
  ]);
  const local = withLocalReferences(source, source) as JsonObject;
  const specification = upgrade(local, '3.1') as unknown as Record<string, unknown>;
  // Resolves references inside the document only, and by identity: a type that contains itself becomes a cycle.
  const document = new Validator().resolveRefs({ specification }) as JsonObject;
  const security = document.security;
  return {
    ...(isObject(document.info) && { title: textOf(document.info.title) }),
    servers: serversOf(document),
    schemes: schemesOf(document),
    operations: Object.entries(isObject(document.paths) ? document.paths : {}).flatMap(([path, item]) =>
      isObject(item) ? operationsOf(path, item, security) : [],
    ),
  };
}

/**
 * A reference to another document becomes an empty schema, also inside examples. A reference to a reference is replaced by one to
 * the end of the chain: the resolver follows each reference only once, in the order of the document.
 */
function withLocalReferences(value: Json, root: JsonObject): Json {
  if (Array.isArray(value)) return value.map((item) => withLocalReferences(item, root));
  if (!isObject(value)) return value;
  if (typeof value.$ref === 'string') {
    const end = endOfChain(value.$ref, root);
    return end === undefined ? {} : { $ref: end };
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withLocalReferences(inner, root)]));
}

function endOfChain(reference: string, root: JsonObject): string | undefined {
  let at = reference;
  for (let step = 0; step < 20 && at.startsWith('#'); step += 1) {
    const keys = at
      .slice(2)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const target = keys.reduce<Json | undefined>((inner, key) => (isObject(inner) ? inner[key] : undefined), root);
    if (!isObject(target) || typeof target.$ref !== 'string') return at;
    at = target.$ref;
  }
  return undefined;
}

function serversOf(document: JsonObject): string[] {
  const servers = Array.isArray(document.servers) ? document.servers : [];
  return servers.flatMap((server) => {
    if (!isObject(server)) return [];
    const variables = isObject(server.variables) ? server.variables : {};
    const url = textOf(server.url).replace(/\{([^}]+)\}/g, (whole, name: string) => {
      const variable = variables[name];
      return isObject(variable) ? textOf(variable.default) || whole : whole;
    });
    return /^https?:\/\/[^/]/.test(url) ? [url] : [];
  });
}

function schemesOf(document: JsonObject): SecurityScheme[] {
  const components = isObject(document.components) ? document.components : {};
  const schemes = isObject(components.securitySchemes) ? components.securitySchemes : {};
  return Object.entries(schemes).flatMap(([name, scheme]) => (isObject(scheme) ? [schemeOf(name, scheme)] : []));
}

function schemeOf(name: string, scheme: JsonObject): SecurityScheme {
  switch (scheme.type) {
    case 'apiKey':
      return {
        name,
        type: 'api_key',
        in: scheme.in === 'query' || scheme.in === 'cookie' ? scheme.in : 'header',
        key: textOf(scheme.name),
      };
    case 'http':
      return { name, type: textOf(scheme.scheme).toLowerCase() === 'basic' ? 'basic' : 'bearer' };
    case 'oauth2':
      return { name, type: 'oauth2', flows: flowsOf(isObject(scheme.flows) ? scheme.flows : {}) };
    default:
      return { name, type: scheme.type === 'openIdConnect' ? 'oauth2' : 'other' };
  }
}

const grants: Readonly<Record<string, string>> = {
  clientCredentials: 'client_credentials',
  authorizationCode: 'authorization_code',
  password: 'password',
};

function flowsOf(flows: JsonObject): NonNullable<SecurityScheme['flows']> {
  return Object.entries(grants).flatMap(([name, grant]) => {
    const flow = flows[name];
    if (!isObject(flow)) return [];
    const tokenUrl = textOf(flow.tokenUrl);
    const scopes = isObject(flow.scopes) ? Object.keys(flow.scopes) : [];
    return [{ grant, scopes, ...(tokenUrl !== '' && { tokenUrl }) }];
  });
}

function operationsOf(path: string, item: JsonObject, global: Json | undefined): Operation[] {
  return methods.flatMap((method) => {
    const operation = item[method];
    if (!isObject(operation)) return [];
    const body = bodyOf(operation);
    const response = responseOf(operation);
    const security = securityOf(operation.security ?? global);
    return [
      {
        method: method.toUpperCase(),
        path,
        about: [operation.operationId, operation.summary, operation.description].map(textOf).join(' '),
        parameters: [...parametersOf(item.parameters), ...parametersOf(operation.parameters), ...body.fields],
        ...(body.type !== undefined && { bodyType: body.type }),
        ...(response !== undefined && { response }),
        responseHeaders: Object.keys(objectOf(successOf(operation)?.headers)),
        ...(security !== undefined && { security }),
      },
    ];
  });
}

function parametersOf(parameters: Json | undefined): Parameter[] {
  return (Array.isArray(parameters) ? parameters : []).flatMap((one): Parameter[] => {
    if (!isObject(one) || (one.in !== 'query' && one.in !== 'path' && one.in !== 'header')) return [];
    const schema = flattened(one.schema);
    const example = one.example === undefined ? {} : { example: one.example };
    return [
      {
        in: one.in,
        name: textOf(one.name),
        about: textOf(one.description) || textOf(schema.description),
        required: one.required === true,
        schema: { ...schema, ...example },
      },
    ];
  });
}

function bodyOf(operation: JsonObject): { readonly type?: string; readonly fields: readonly Parameter[] } {
  const content = contentOf(operation.requestBody);
  if (content === undefined) return { fields: [] };
  const schema = flattened(content.media.schema);
  const shown = exampleOf(content.media) ?? exampleOf(schema);
  const example = isObject(shown) ? shown : {};
  return { type: content.type, fields: fieldsOf(schema, example, '', 0) };
}

function fieldsOf(schema: JsonObject, example: JsonObject, path: string, depth: number): Parameter[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(propertiesOf(schema)).flatMap(([key, property]) => {
    const inner = flattened(property);
    const name = path === '' ? key : `${path}.${key}`;
    const shown = example[key];
    if (typeOf(inner) === 'object' && depth < 2) return fieldsOf(inner, isObject(shown) ? shown : {}, name, depth + 1);
    return [
      {
        in: 'body' as const,
        name,
        about: textOf(inner.description),
        required: required.has(key),
        schema: inner.example === undefined && shown !== undefined ? { ...inner, example: shown } : inner,
      },
    ];
  });
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

function successOf({ responses }: JsonObject): JsonObject | undefined {
  return ['200', '201', '2XX', 'default'].map((status) => objectOf(responses)[status]).find(isObject);
}

function responseOf(operation: JsonObject): JsonObject | undefined {
  const content = contentOf(successOf(operation));
  return content === undefined || !isObject(content.media.schema) ? undefined : content.media.schema;
}

/** The JSON content of a body or a response, else a form, else whatever is there. */
function contentOf(holder: Json | undefined): { readonly type: string; readonly media: JsonObject } | undefined {
  const content = isObject(holder) && isObject(holder.content) ? holder.content : {};
  const types = Object.keys(content);
  const type =
    types.find((one) => /json/i.test(one)) ?? types.find((one) => /form/i.test(one)) ?? types.find((one) => one !== '');
  const media = type === undefined ? undefined : content[type];
  return type === undefined || !isObject(media) ? undefined : { type, media };
}

function securityOf(security: Json | undefined): string[] | undefined {
  if (!Array.isArray(security)) return undefined;
  return [...new Set(security.flatMap((one) => (isObject(one) ? Object.keys(one) : [])))];
}
