import { isMap, isScalar, parseDocument } from 'yaml';

/** The request of a connector as a form shows it. The text stays the original: comments and other keys are kept. */
export interface ListRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly by: keyof typeof ends;
  /** The parameters for the first and the last day, or for the time since which and up to which changes are listed. */
  readonly from: string;
  readonly to: string;
  /** How a day is written; empty for YYYY-MM-DD. */
  readonly notation: string;
  /** The longest range of one request for changes. */
  readonly step: string;
  /** Further parameters, one `name: value` per line. */
  readonly more: string;
  /** As in the document; `type` says which kind. */
  readonly paging: Readonly<Record<string, string>>;
}

/** What the list is asked by, and the placeholders of its two ends. */
const ends = { stay: ['window.from', 'window.to'], change: ['since', 'now'], all: [] } as const;
const end = /^\{(window\.from|window\.to|since|now)(?::([^}]+))?\}$/;
const placeOf = (method: string): 'query' | 'body' => (method === 'POST' ? 'body' : 'query');

/** Undefined while the text is not valid YAML. */
export function readRequest(text: string): ListRequest | undefined {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  const read = (...keys: string[]): unknown => {
    const node = document.getIn(['pull', ...keys]);
    return isMap(node) ? node.toJSON() : node;
  };
  const method = read('request', 'method') === 'POST' ? 'POST' : 'GET';
  const parameters = Object.entries((read('request', placeOf(method)) ?? {}) as Record<string, unknown>);
  const placed = (name: string | undefined) => parameters.find(([, value]) => end.exec(String(value))?.[1] === name);
  const by = read('window') === 'none' ? 'all' : !placed('window.from') && placed('since') ? 'change' : 'stay';
  const [from, to] = ends[by].map(placed);
  const others = parameters.filter(([name, value]) => isPlain(value) && name !== from?.[0] && name !== to?.[0]);
  return {
    method,
    path: String(read('request', 'path') ?? ''),
    by,
    from: from?.[0] ?? '',
    to: to?.[0] ?? '',
    notation: end.exec(String(from?.[1]))?.[2] ?? '',
    step: String(read('since', 'step') ?? ''),
    more: others.map(([name, value]) => `${name}: ${value}`).join('\n'),
    paging: Object.fromEntries(
      Object.entries((read('pagination') ?? { type: 'none' }) as Record<string, unknown>)
        .filter(([, value]) => isPlain(value))
        .map(([name, value]) => [name, String(value)]),
    ),
  };
}

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

/** The text with another request. */
export function writeRequest(text: string, request: ListRequest): string {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents)) return text;
  const at = (...keys: string[]) => ['pull', 'request', ...keys];
  const before = document.getIn(at());
  const old = isMap(before) ? (before.toJSON() as Record<string, unknown>) : {};
  const place = placeOf(request.method);
  // Values that the form does not show stay: lists, and objects of a body.
  const hidden = Object.entries((old[placeOf(String(old.method))] ?? {}) as Record<string, unknown>).filter(
    ([, value]) => !isPlain(value),
  );
  const notation = request.notation === '' ? '' : `:${request.notation}`;
  const dates = ends[request.by]
    .map((one, i) => [i === 0 ? request.from : request.to, `{${one}${notation}}`] as const)
    .filter(([name]) => name !== '');
  const parameters = Object.fromEntries([...hidden, ...dates, ...pairsOf(request.more)]);
  document.setIn(at('method'), request.method);
  document.setIn(at('path'), request.path);
  for (const one of ['query', 'body'] as const)
    if (one !== place || old.method !== request.method) document.deleteIn(at(one));
  if (Object.keys(parameters).length > 0) document.setIn(at(place), document.createNode(parameters));
  else document.deleteIn(at(place));
  if (request.by === 'all') document.setIn(['pull', 'window'], 'none');
  else if (document.getIn(['pull', 'window']) === 'none') document.deleteIn(['pull', 'window']);
  const { step: _, ...since } = (document.toJSON().pull.since ?? {}) as Record<string, unknown>;
  const wanted = request.by === 'change' && request.step !== '' ? { ...since, step: request.step } : since;
  if (Object.keys(wanted).length > 0) document.setIn(['pull', 'since'], document.createNode(wanted));
  else document.deleteIn(['pull', 'since']);
  const paging = Object.entries(request.paging).filter(([, value]) => value !== '');
  if (!isSame(document.getIn(['pull', 'pagination']), paging)) {
    document.setIn(
      ['pull', 'pagination'],
      document.createNode(Object.fromEntries(paging.map(([name, value]) => [name, numberOr(value)]))),
    );
  }
  return document.toString({ lineWidth: 0 });
}

/** Unchanged paging keeps its comment. */
function isSame(node: unknown, paging: readonly (readonly [string, string])[]): boolean {
  if (!isMap(node) || node.items.length !== paging.length) return false;
  return paging.every(([name, value]) => {
    const leaf = node.get(name, true);
    return isScalar(leaf) && String(leaf.value) === value;
  });
}

const numberOr = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text);

const pairsOf = (text: string): [string, string | number][] =>
  text.split('\n').flatMap((line): [string, string | number][] => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [[line.slice(0, at).trim(), numberOr(line.slice(at + 1).trim())]];
  });
