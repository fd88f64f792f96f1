import { isObject } from '../../terms.ts';
import { textsIn } from './checked.ts';
import type { Connector } from './connector.ts';
import type { LoadedDocument } from './kinds.ts';
import type { CheckFinding } from './mistake.ts';
import { placeholdersIn, requestPlaceholders } from './placeholders.ts';

/** Checks of what an integration adds to its connector's requests: credentials and the brand's own headers, query and body. */
export function additionChecks(integration: LoadedDocument<'integration'>, { pull }: Connector): CheckFinding[] {
  return [...bodyAdditions(integration, pull), ...sentAsWritten(integration)];
}

/** Keys of a body need a request with a body, and a place in it that the connector does not use. */
function bodyAdditions({ name, body }: LoadedDocument<'integration'>, pull: Connector['pull']): CheckFinding[] {
  const { auth, body: own } = body.pull ?? {};
  if (pull === undefined) return [];
  const requests = [pull.request, ...Object.values(pull.requests)].filter((request) => request !== undefined);
  const asksByGet = requests.some(({ method }) => method === 'GET');
  const credentials = auth?.type === 'custom' ? auth : undefined;
  const isBodyAll = credentials?.headers === undefined && credentials?.query === undefined;
  const finding = (
    path: readonly string[],
    added: unknown,
    hasOtherPlaces: boolean,
    instead: string,
  ): CheckFinding[] => {
    if (added === undefined) return [];
    const document = { kind: 'integration' as const, name };
    if (asksByGet && !hasOtherPlaces) {
      const message = `the connector's request is a GET, which has no body: nothing would be sent. Use ${instead}`;
      return [{ document, path: ['pull', ...path], message }];
    }
    const [first] = requests.flatMap((request) => sharedKeys(request.body, added));
    if (first === undefined) return [];
    const message = `the connector's request body already has ${first.join('.')}; rename one of them`;
    return [{ document, path: ['pull', ...path, ...first], message }];
  };
  return [
    ...finding(['auth', 'body'], credentials?.body, !isBodyAll, 'headers or query'),
    ...finding(['body'], own, false, 'pull.headers or pull.query'),
  ];
}

/** Only the connector's requests have placeholders: from here the partner would receive the braces. */
function sentAsWritten({ name, body }: LoadedDocument<'integration'>): CheckFinding[] {
  const { auth, headers, query, body: own } = body.pull ?? {};
  const sent = { headers, query, body: own, ...((auth?.type === 'custom' || auth?.type === 'login') && { auth }) };
  return [...textsIn(sent)].flatMap(({ text, path }) => {
    const used = placeholdersIn(text).find((one) => Object.hasOwn(requestPlaceholders, one.name));
    if (used === undefined) return [];
    const instead = used.name === 'brand_id' ? ` (${body.brand_id})` : '';
    return [
      {
        document: { kind: 'integration' as const, name },
        path: ['pull', ...path],
        severity: 'warning' as const,
        message: `{${used.name}} is sent as written: placeholders are replaced in the connector’s requests only. Write the value${instead}, or move the key to the connector`,
      },
    ];
  });
}

/** Paths that both have, where at least one side is not an object. An empty text keeps a place, where the order of elements counts. */
function sharedKeys(one: unknown, other: unknown): string[][] {
  if (one === '') return [];
  if (!isObject(one) || !isObject(other)) return one === undefined || other === undefined ? [] : [[]];
  return Object.keys(other)
    .filter((key) => Object.hasOwn(one, key))
    .flatMap((key) => sharedKeys(one[key], other[key]).map((rest) => [key, ...rest]));
}
