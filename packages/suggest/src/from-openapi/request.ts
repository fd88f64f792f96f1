import type { Json, JsonObject } from '../../../../src/terms.ts';
import { wordsOf } from '../words.ts';
import { isCredential, namesProperty, type Operation, type Parameter, type Proposed } from './model.ts';
import { lastKey } from './paging.ts';
import { enumOf, exampleOf, flattened, setAt, typeOf } from './schema.ts';
import type { WindowParameters } from './window.ts';

export interface ProposedRequest {
  readonly request: JsonObject;
  /** Why parameters besides the window are sent: place and reason. */
  readonly fixed: readonly { readonly place: string; readonly reason: string }[];
  /** Required parameters whose value is unknown. */
  readonly open: readonly string[];
  /** Parameters that select parts of the answer, and for which nothing is proposed. */
  readonly contents: readonly string[];
}

/** The request of the list: its window, its property, and what makes the answer complete. Paging adds its own later. */
export function requestOf(
  operation: Operation,
  window: WindowParameters | undefined,
  since?: { readonly parameter: Parameter; readonly value: string },
): ProposedRequest {
  const sent: { parameter: Parameter; value: Json; reason?: string }[] = [];
  const open: string[] = [];
  const add = (parameter: Parameter, value: Json, reason?: string) =>
    sent.push({ parameter, value, ...(reason !== undefined && { reason }) });
  if (window !== undefined) {
    add(window.from, window.values.from);
    add(window.to, window.values.to);
    if (window.needs !== undefined)
      add(window.needs.parameter, window.needs.value, 'selects the day that the range filters by');
  }
  if (since !== undefined) add(since.parameter, since.value);
  for (const parameter of operation.parameters) {
    if (sent.some((one) => one.parameter === parameter)) continue;
    const fixed = valueFor(parameter);
    if (fixed !== undefined) add(parameter, fixed.value, fixed.reason);
    else if (parameter.required && parameter.in !== 'path' && !isAuth(parameter))
      open.push(`${parameter.in}.${parameter.name}`);
  }
  const part = (place: Parameter['in']) => sent.filter(({ parameter }) => parameter.in === place);
  const flat = (place: Parameter['in']) =>
    Object.fromEntries(part(place).map(({ parameter, value }) => [parameter.name, value]));
  const body: JsonObject = {};
  for (const { parameter, value } of part('body')) setAt(body, parameter.name.split('.'), value);
  const headers = flat('header');
  const query = flat('query');
  return {
    request: {
      method: operation.method === 'POST' ? 'POST' : 'GET',
      path: pathOf(operation),
      ...(operation.bodyType?.includes('form-urlencoded') === true && { encoding: 'form' }),
      ...(Object.keys(query).length > 0 && { query }),
      ...(Object.keys(body).length > 0 && { body }),
      ...(Object.keys(headers).length > 0 && { headers }),
    },
    fixed: sent.flatMap(({ parameter, reason }) =>
      reason === undefined ? [] : [{ place: `${parameter.in}.${parameter.name}`, reason }],
    ),
    open,
    contents: operation.parameters
      .filter((one) => selectsParts.test(lastKey(one.name)) && !sent.some(({ parameter }) => parameter === one))
      .map((one) => `${one.in}.${one.name}`),
  };
}

const selectsParts = /^(?:expand|includes?|with|embed|fields?|select|projection|view)$/i;

const isAuth = (parameter: Parameter) =>
  parameter.in !== 'query' &&
  parameter.in !== 'path' &&
  (isCredential(parameter) || parameter.name.toLowerCase() === 'authorization');

function pathOf({ path, parameters }: Operation): string {
  return path.replace(/\{([^}]+)\}/g, (whole, name: string) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    return namesProperty(parameter ?? { in: 'path', name, about: '', required: true, schema: {} })
      ? '{brand_id}'
      : whole;
  });
}

function valueFor(parameter: Parameter): { readonly value: Json; readonly reason: string } | undefined {
  if (parameter.in === 'path') return undefined;
  if (namesProperty(parameter)) {
    const items = typeOf(parameter.schema) === 'array' ? typeOf(flattened(parameter.schema.items)) : undefined;
    // The brand's id is text: a list of numbers cannot hold it.
    if (items === 'integer' || items === 'number') return undefined;
    return { value: items === undefined ? '{brand_id}' : ['{brand_id}'], reason: 'names the property' };
  }
  if (isAuth(parameter)) return undefined;
  return (
    inclusion(parameter) ??
    expansion(parameter) ??
    detail(parameter) ??
    counting(parameter) ??
    (parameter.required && parameter.in !== 'header' ? given(parameter) : undefined)
  );
}

const wanted = new Set('guest guests customer customers room rooms rate rates charge charges price prices'.split(' '));

/** `includeGuestsDetails`: off by default, and without it the answer has no guests. */
function inclusion({ name, schema }: Parameter) {
  if (typeOf(schema) !== 'boolean') return undefined;
  const words = wordsOf(lastKey(name));
  const asks = words.some((word) => ['include', 'with', 'expand', 'show', 'load'].includes(word));
  const side = words.some((word) =>
    ['requirements', 'custom', 'deleted', 'move', 'headers', 'siblings', 'no', 'exclude'].includes(word),
  );
  if (!asks || side || !words.some((word) => wanted.has(word))) return undefined;
  return { value: true, reason: 'the answer is incomplete without it' };
}

/** `expand: [booker, timeSlices, services]`: everything about guests, rooms and money. `fields` narrows an answer: it names all of them. */
function expansion({ name, about, schema }: Parameter) {
  const narrows = /^(?:fields?|select|projection)$/i.test(lastKey(name));
  if (!narrows && !/^(?:expand|includes?|with|embed)$/i.test(lastKey(name))) return undefined;
  const all =
    enumOf(schema).find((value) => /^(?:all|full|\*)$/i.test(String(value))) ??
    (narrows ? /["'`](all|full|\*)["'`]/i.exec(about)?.[1] : undefined);
  if (all !== undefined) return { value: all, reason: 'the answer is incomplete without it' };
  const isPart = (value: Json) =>
    narrows || wordsOf(String(value)).some((word) => wanted.has(word) || expanded.has(word));
  if (typeOf(schema) === 'string') {
    // A sentence lists the parts: "comma separated: guests, rooms, payments".
    const text = narrows ? about.replace(/^[^:]*:?/, '') : about;
    const listed = [...new Set(text.match(/[\w.]*\w(?=["'`]?\s*(?:,|\band\b|\bor\b|["'`.)]|$))/g) ?? [])].filter(
      isPart,
    );
    const value = listed.join(',');
    // One or two names are an example.
    return value === '' || (narrows && listed.length < 3)
      ? undefined
      : { value, reason: 'the answer is incomplete without them; its text names these parts' };
  }
  if (typeOf(schema) !== 'array') return undefined;
  const parts = enumOf(flattened(schema.items)).filter(isPart);
  return parts.length === 0 ? undefined : { value: parts, reason: 'the answer is incomplete without them' };
}
const expanded = new Set(['booker', 'services', 'service', 'slices', 'extras', 'stay', 'stays', 'amounts']);

/** `modelType: full` beside basic and lite. */
function detail({ schema }: Parameter) {
  const full = enumOf(schema).find((value) => /^(?:full|all|detailed|complete|extended)$/i.test(String(value)));
  if (full === undefined || schema.default === full) return undefined;
  const smaller = enumOf(schema).some((value) =>
    /^(?:basic|lite|minimal|summary|short|none|default)$/i.test(String(value)),
  );
  return smaller ? { value: full, reason: 'the answer has all fields only then' } : undefined;
}

/** `inlinecount: AllPages`: the count of all records, only on request. */
function counting({ name, about, schema }: Parameter) {
  const all = enumOf(schema).find((value) => /^all/i.test(String(value)));
  if (all === undefined || !/count|total/i.test(`${name} ${about}`)) return undefined;
  return { value: all, reason: 'the answer then says how many records there are' };
}

function given({ schema }: Parameter) {
  const value = schema.default ?? exampleOf(schema) ?? enumOf(schema)[0];
  if (value === undefined) return undefined;
  return { value: value as Json, reason: 'required; the value is the description’s default or example' };
}

/** The request's range, described for a person. */
export function windowLine(range: Proposed<unknown> | undefined, hasDates: boolean) {
  if (range === undefined && !hasDates)
    return { confidence: 0.6, reason: 'no parameter is a date: the list is requested as a whole' };
  return range === undefined
    ? { confidence: 0.2, reason: 'no pair of parameters is a range of days: add the window by hand' }
    : { confidence: range.confidence, reason: range.reason };
}
