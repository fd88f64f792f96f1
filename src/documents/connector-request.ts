import { z } from 'zod';
import { checkedText, crossChecked, type Report, textsChecked, textsIn } from './checked.ts';
import { type Path, valueAt } from './path.ts';
import { checkPlaceholders, placeholdersIn, requestPlaceholders } from './placeholders.ts';
import { headerName } from './scalars.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'must be text, a number, or true or false' });

type Placeholders = Readonly<Record<string, string>>;

export const requestParts = (known: Placeholders) => {
  const check = (text: string) => checkPlaceholders(text, known);
  const queryValue = z.union([scalar, z.array(scalar)], {
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
  const used = [...textsIn([request.path, request.query, request.body, request.headers])].flatMap(({ text }) =>
    placeholdersIn(text),
  );
  return used.some(({ name }) => names.includes(name) || !Object.hasOwn(known, name));
}

export const requestSchema = crossChecked(z.strictObject(requestParts(requestPlaceholders)), checkBody).describe(
  'How to request the list of reservations.',
);

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
    if (typeof request !== 'object' || request === null) continue;
    const parts = request as Readonly<Record<string, unknown>>;
    if (!sends(parts, requestPlaceholders, 'since', 'since_utc')) continue;
    if (sends(parts, requestPlaceholders, 'now', 'now_utc')) continue;
    const message = 'since.step needs an upper bound: send {now} in the same request';
    report({ message }, type === 'request' ? ['request'] : ['requests', type]);
  }
}
