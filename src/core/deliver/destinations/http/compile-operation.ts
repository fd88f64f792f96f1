import { urlFault, urlPart } from '../../../../kit/plain-url.ts';
import type { Json } from '../../../../terms.ts';
import type { Limit } from '../../destination.ts';
import type { Situation } from './operation.ts';
import type { Preset } from './preset.ts';
import { compileLine, compileTemplate, type Scope } from './template.ts';

/** One kind of request, with its templates compiled. */
export type Operation = ReturnType<typeof compile>;

export type Rule = Situation & { readonly url?: string | undefined; readonly limit?: string | undefined };

export type Values = Readonly<Record<string, string | undefined>>;

/** The values of `with`, including the preset's defaults. */
export function valuesOf(settings: { readonly with: Values }, preset: Preset | undefined): Values {
  const defaults = Object.entries(preset?.with ?? {}).map(([name, { default: value }]) => [name, value]);
  return { ...Object.fromEntries(defaults), ...settings.with };
}

/** The second overrides the first; headers of both are sent. */
export function merge(first: Partial<Rule>, second: Partial<Rule>): Rule {
  const headers = { ...first.headers, ...second.headers };
  return { ...first, ...second, ...(Object.keys(headers).length > 0 && { headers }) };
}

export function compile(rule: Rule, values: Values, limits: Preset['limits'] = {}) {
  const headers = Object.entries(rule.headers ?? {}).map(([name, value]) => [name, compileLine(value)] as const);
  const requires = (rule.requires ?? []).map((path) => compileLine(`{${path}}`));
  const unwanted = (rule.skip_if ?? []).map((path) => compileLine(`{${path}}`));
  const [one, other] = (rule.unless_equal ?? []).map((path) => compileLine(`{${path}}`));
  return {
    method: rule.method ?? 'POST',
    url: addressOf(withValues(rule.url ?? '', values)),
    headers: (scope: Scope): Record<string, string> =>
      Object.fromEntries(headers.map(([name, value]) => [name, value(scope)] as const).filter(isWhole)),
    /** One item's body; undefined sends none. */
    body:
      rule.body === 'none'
        ? undefined
        : rule.body === undefined
          ? ({ message }: Scope) => message
          : compileTemplate(rule.body as Json, rule.empty),
    /** Wraps a batch; undefined where a request holds one item. */
    envelope: rule.envelope === undefined ? undefined : compileTemplate(rule.envelope as Json),
    unique: rule.unique === undefined ? undefined : compileLine(rule.unique),
    accept: rule.accept ?? [],
    found: rule.found && {
      ...rule.found,
      ...(rule.found.key && { key: [rule.found.key].flat().map((path) => withValues(path, values)) }),
    },
    read: rule.read && {
      ...rule.read,
      except: rule.read.except.map((path) => withValues(path, values)),
      url: addressOf(withValues(rule.read.url, values)),
      key: rule.read.key && withValues(rule.read.key, values),
      body: rule.read.body === undefined ? undefined : compileTemplate(rule.read.body as Json),
    },
    answer: rule.answer,
    failure: rule.failure,
    /** The most items in one request; undefined uses the batch size of the destination. */
    batch: rule.batch,
    skip: rule.skip ?? false,
    limit: limitOf(rule.limit, limits),
    /** Whether the item has all that this request requires. Checked when its turn comes: earlier answers may have found values. */
    applies: (scope: Scope) =>
      requires.every((has) => has(scope) !== undefined) &&
      unwanted.every((has) => has(scope) === undefined) &&
      (one === undefined || one(scope) !== other?.(scope)),
  };
}

/** Values of the settings are part of the address; values of a record are escaped, and choose no other path. */
function addressOf(template: string): (scope: Scope) => string | undefined {
  const line = compileLine(template, urlPart);
  return (scope) => {
    const url = line(scope);
    return url === undefined || urlFault(url) !== undefined ? undefined : url;
  };
}

/** The limit of a preset by its name. */
export function limitOf(name: string | undefined, limits: Preset['limits']): Limit | undefined {
  const rate = name === undefined ? undefined : limits[name];
  return name === undefined || rate === undefined ? undefined : { name, rate };
}

/** Values of the settings are inserted as they are. */
export const withValues = (text: string, values: Values): string =>
  text.replace(/\{with\.(\w+)\}/g, (_all, name) => (Object.hasOwn(values, name) ? (values[name] ?? '') : ''));

export const isWhole = (entry: readonly [string, string | undefined]): entry is readonly [string, string] =>
  entry[1] !== undefined;
