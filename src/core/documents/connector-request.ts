import { z } from 'zod';
import { isObject } from '../../terms.ts';
import { answerPath, checkAnswerPath } from './answer-path.ts';
import { checkedText, crossChecked, type Report, textsChecked } from './checked.ts';
import { mapSchema } from './connector-mapping.ts';
import { scalar } from './mapping-field.ts';
import { type Path, valueAt } from './path.ts';
import { checkPlaceholders, placeholderNames, requestPlaceholders, singlePlaceholders } from './placeholders.ts';
import { headerName } from './scalars.ts';

type Placeholders = Readonly<Record<string, string>>;

export const requestParts = (known: Placeholders) => {
  const check = (text: string) => checkPlaceholders(text, known);
  const text = z.union([z.string(), z.number(), z.boolean()], { error: 'must be text, a number, or true or false' });
  const queryValue = z.union([text, z.array(text)], {
    error: 'must be text, a number, true or false, or a list of them',
  });
  return {
    method: z
      .enum(['GET', 'POST'])
      .default('GET')
      .describe('GET with a query, or POST with a body (and optionally a query).'),
    path: checkedText('a path such as /api/reservations', (text) =>
      text.startsWith('/')
        ? check(text)
        : { message: 'must start with /; it is added to base_url', suggestion: `/${text}` },
    ).describe('The path under base_url; it may hold placeholders.'),
    query: textsChecked(z.record(z.string(), queryValue), check)
      .meta({ credential: 'likely' })
      .optional()
      .describe(
        'Query parameters. A parameter whose placeholder is empty is left out; a list is sent as a repeated parameter.',
      ),
    encoding: z
      .enum(['json', 'form'])
      .default('json')
      .describe(
        'How the body of a POST is written: `json`, or `form` (application/x-www-form-urlencoded). In a form, a list is a repeated field and an object is its JSON text.',
      ),
    body: textsChecked(z.record(z.string(), z.json()), check)
      .meta({ credential: 'likely' })
      .optional()
      .describe('The body of a POST. A text that is one placeholder alone becomes its value with its type.'),
    headers: textsChecked(z.record(headerName(), z.string()), check)
      .meta({ credential: 'likely' })
      .optional()
      .describe('Further headers.'),
  };
};

export function checkBody(request: Readonly<Record<string, unknown>>, report: Report): void {
  if (request.body !== undefined && request.method === 'GET')
    report({ message: 'a body needs method: POST' }, ['body']);
}

/** Whether the request carries the value. True for a misspelled placeholder, which is reported once and not also as missing. */
export function sends(request: Readonly<Record<string, unknown>>, known: Placeholders, ...names: string[]): boolean {
  const used = placeholderNames([request.path, request.query, request.body, request.headers]);
  return used.some((name) => names.includes(name) || !Object.hasOwn(known, name));
}

export const requestSchema = crossChecked(z.strictObject(requestParts(requestPlaceholders)), checkBody).describe(
  'How to request the list of reservations.',
);

const { method, encoding, path, ...listParts } = requestParts(requestPlaceholders);

/** The request of one sync: whole, or what it changes. */
export const syncRequestSchema = z
  .strictObject({
    path: path.optional().describe('The path under base_url; without it, the request is `request` with these keys.'),
    method: method.unwrap().optional().describe('GET or POST.'),
    encoding: encoding.unwrap().optional().describe('How the body is written: `json` or `form`.'),
    ...listParts,
  })
  .describe('The request of this sync, or what it changes of `request`.');

type Loose = Readonly<Record<string, unknown>>;

/** A request with a path stands alone; one without is `request` with other keys in its query, body and headers. */
export function requestOfSync(request: unknown, own: Loose): Loose {
  return own.path === undefined && isObject(request)
    ? overlaid(request, own)
    : { method: 'GET', encoding: 'json', ...own };
}

function overlaid(under: Loose, over: Loose): Loose {
  const keys = Object.entries(over).map(([key, value]) => {
    const before = Object.hasOwn(under, key) ? under[key] : undefined;
    return [key, isObject(value) && isObject(before) ? overlaid(before, value) : (value ?? before)] as const;
  });
  return { ...under, ...Object.fromEntries(keys) };
}

/** Each end of the window, in every form that a request can send it. */
const bounds = [
  ['window.from', 'window.from_utc', 'window.before'],
  ['window.to', 'window.to_utc', 'window.after', 'window.days'],
] as const;

/** Every request must send both ends of the window, unless the list has no window or lists changes. */
export function checkBounds(request: unknown, report: Report, path: Path): void {
  if (typeof request !== 'object' || request === null) return;
  const parts = request as Readonly<Record<string, unknown>>;
  if (sends(parts, requestPlaceholders, 'since', 'since_utc')) return;
  for (const [bound, ...others] of bounds) {
    if (sends(parts, requestPlaceholders, bound, ...others)) continue;
    report({ message: `sends no {${bound}}: every request must send both ends of the window` }, path);
  }
}

/** A step without an upper bound would ask for the same changes again and again. */
export function checkSteps(pull: Readonly<Record<string, unknown>>, report: Report): void {
  if (valueAt(pull, ['since', 'step']) === undefined) return;
  const requests = { request: pull.request, ...(pull.requests as Readonly<Record<string, unknown>>) };
  for (const [type, request] of Object.entries(requests)) {
    if (!isObject(request)) continue;
    const parts = type === 'request' ? request : requestOfSync(pull.request, request);
    if (!sends(parts, requestPlaceholders, 'since', 'since_utc')) continue;
    if (sends(parts, requestPlaceholders, 'now', 'now_utc')) continue;
    const message = 'since.step needs an upper bound: send {now} in the same request';
    report({ message }, type === 'request' ? ['request'] : ['requests', type]);
  }
}

const oneOf = z.union([scalar, z.null(), z.array(z.union([scalar, z.null()])).min(1)]);
const wanted = z.union(
  [oneOf, z.strictObject({ not: oneOf.describe('Any value but this, or these; a missing value is none of them.') })],
  { error: 'must be a value, a list of values, null for an empty one, or { not: … }' },
);

const errorSchema = crossChecked(
  z.strictObject({
    when: z
      .record(z.string().min(1), wanted)
      .describe('Paths in the answer, each with its required value, or a list of possible values. All must match.'),
    means: z
      .enum(['auth', 'rate', 'not_found', 'fault'])
      .describe(
        '`auth` renews the credentials, as a 401; `rate` waits, as a 429; `not_found` is a 404; `fault` is retried, as a 5xx.',
      ),
    message: answerPath().optional().describe('Path to the partner’s own message.'),
  }),
  ({ when }, report) => {
    if (typeof when === 'object' && when !== null && Object.keys(when).length === 0)
      report({ message: 'needs at least one path' }, ['when']);
    for (const path of Object.keys(when ?? {})) report(checkAnswerPath(path), ['when', path]);
  },
);

/** Errors that a partner reports inside a successful answer. */
export const errorsSchema = z
  .array(errorSchema)
  .default([])
  .describe(
    'Where an answer with a success status reports an error. The usual spellings are recognised without this: success: false, a filled error, status: error, each without rows.',
  );

const idParts = Object.keys(singlePlaceholders).filter((name) => name.startsWith('id.'));

export const singleSchema = crossChecked(
  z.strictObject({
    ...requestParts(singlePlaceholders),
    split: z
      .string()
      .min(1)
      .optional()
      .describe(
        'For a request that needs two or three ids, such as /properties/{id.0}/reservations/{id.1}: the text between them in the id of the reservation. The mapping joins them: `id: { join: [property.id, id], with: "/" }`.',
      ),
    id_as: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The name under which the mapping finds the requested id, at `$body.NAME`, for answers that do not repeat it.',
      ),
    map: mapSchema
      .optional()
      .describe(
        'Overrides `map` for the answer with one reservation, field by field and list by list. If the list has flat rows, `map` is not used at all. shape.single_path is the path of the reservation.',
      ),
  }),
  (request, report) => {
    checkBody(request, report);
    if (!sends(request, singlePlaceholders, 'id', ...idParts)) report({ message: 'sends no {id}' });
    const used = usedParts(request);
    if (used.length > 0 && request.split === undefined) {
      report({ message: `{${used[0]}} is a part of the id: say what separates the parts (split)` });
    }
    if (used.length === 0 && request.split !== undefined) {
      report({ message: 'the request sends no part of the id, such as {id.0}' }, ['split']);
    }
  },
).describe('How to request one reservation, for thin events and for fetching a reservation again.');

export const guestRequestSchema = crossChecked(
  z.strictObject({
    ...requestParts({ id: 'the id of the guest', brand_id: singlePlaceholders.brand_id ?? '' }),
    root_path: answerPath().optional().describe('The path of the guest in the answer, such as Customers[0].'),
  }),
  (request, report) => {
    checkBody(request, report);
    if (!sends(request, singlePlaceholders, 'id')) report({ message: 'sends no {id}' });
  },
).describe(
  'How to request one guest, for guest events that only name the guest. Its fields are those of the first `guests` in push.map or map.',
);

function usedParts({ path, query, body, headers }: Readonly<Record<string, unknown>>): string[] {
  return placeholderNames([path, query, body, headers]).filter((name) => idParts.includes(name));
}

/** Checks that the connector joins ids with the separator by which the single request splits them. */
export function checkJoinedIds(connector: unknown, report: Report): void {
  const split = valueAt(connector, ['pull', 'single', 'split']);
  if (typeof split !== 'string') return;
  const places = [
    ['map', 'id'],
    ['pull', 'single', 'map', 'id'],
    ['push', 'map', 'id'],
    ['push', 'thin', 'id'],
  ] as const;
  for (const place of places) {
    const id = valueAt(connector, place);
    if (valueAt(id, ['join']) === undefined) continue;
    const between = valueAt(id, ['with']) ?? ' ';
    if (between === split) continue;
    const message = `joins the id with ${JSON.stringify(between)}, but pull.single splits it on ${JSON.stringify(split)}`;
    report({ message }, place);
  }
}
