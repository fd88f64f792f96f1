import type { Json } from '../../../../src/terms.ts';
import { wordsOf } from '../words.ts';
import { writtenFormat as shownFormat } from './example-values.ts';
import type { Operation, Parameter, Proposed } from './model.ts';
import { enumOf, exampleOf, textOf, typeOf } from './schema.ts';

/** The two parameters of a range of days, and what else the range needs. */
export interface WindowParameters {
  readonly from: Parameter;
  readonly to: Parameter;
  /** Which day of a reservation the range filters by. */
  readonly by: Meaning;
  readonly values: { readonly from: string; readonly to: string };
  /** A parameter that selects the day to filter by, and its value. */
  readonly needs?: { readonly parameter: Parameter; readonly value: Json };
}

type Meaning = 'stay' | 'arrival' | 'departure' | 'unsaid' | 'booking' | 'change' | 'something else';

const starts = new Set(['from', 'start', 'begin', 'since', 'after', 'min', 'gte', 'starting', 'first']);
const ends = new Set(['to', 'end', 'until', 'before', 'max', 'lte', 'lt', 'ending', 'last', 'till', 'through']);

/** How useful a range is for finding every reservation of a window of days. */
const worth: Readonly<Record<Meaning, number>> = {
  stay: 1,
  arrival: 0.95,
  unsaid: 0.85,
  departure: 0.75,
  booking: 0.2,
  change: 0.15,
  'something else': 0.1,
};

const meanings: readonly (readonly [Meaning, RegExp])[] = [
  ['change', /\b(?:modif\w*|updat\w*|chang\w*|last edit\w*)\b/],
  ['booking', /\b(?:creat\w*|booked|booking date|booking time|insert\w*|made on|placed)\b/],
  ['arrival', /\b(?:arriv\w*|check ?in)\b/],
  ['departure', /\b(?:depart\w*|check ?out|leav\w*)\b/],
  ['stay', /\b(?:stay\w*|in ?house|night\w*|collid\w*|overlap\w*|occup\w*)\b/],
];

export function findWindow({ parameters }: Operation): Proposed<WindowParameters> | undefined {
  const dates = parameters.filter((one) => one.in !== 'header' && one.in !== 'path' && isDate(one));
  const pairs = dates.flatMap((from) => {
    const side = sideOf(from, starts);
    if (side === undefined) return [];
    const to = dates.find((one) => one.in === from.in && sideOf(one, ends) === side);
    return to === undefined ? [] : [{ from, to, by: meaningOf(side, from, to) }];
  });
  const [best] = pairs.toSorted((a, b) => score(b) - score(a));
  if (best === undefined || worth[best.by] < 0.15) return undefined;
  const stem = sideOf(best.from, starts) ?? '';
  const selector = isNeutral(stem) || stem === 'stay' ? selectorOf(parameters) : undefined;
  const by = selector === undefined ? best.by : selector.by;
  return {
    value: {
      ...best,
      by,
      values: { from: writtenDay(best.from, 'from', best), to: writtenDay(best.to, 'to', best) },
      ...(selector !== undefined && { needs: { parameter: selector.parameter, value: selector.value } }),
    },
    confidence: worth[by] * (best.from.required ? 1 : 0.95),
    reason:
      `${best.from.name} and ${best.to.name} are a range of days by ${by === 'unsaid' ? 'a day that the description does not name' : by}` +
      (selector === undefined ? '' : `; ${selector.parameter.name} selects the day`),
  };
}

const score = ({ from, to, by }: { from: Parameter; to: Parameter; by: Meaning }) =>
  worth[by] + (from.required && to.required ? 0.3 : 0) - (isTime(from) ? 0.05 : 0);

export function isDate({ name, about, schema }: Parameter): boolean {
  const type = typeOf(schema);
  if (type !== undefined && type !== 'string') return false;
  if (
    schema.format === 'date' ||
    schema.format === 'date-time' ||
    shownFormat([exampleOf(schema)], about) !== undefined
  )
    return true;
  const words = wordsOf(name);
  if (words.includes('date')) return true;
  const marked = words.some((word) => starts.has(word) || ends.has(word));
  return marked && /\bdates?\b|YYYY/i.test(about);
}

const isTime = ({ name }: Parameter) => wordsOf(name).includes('time');

/** The name without its side and without "date": the same for both ends of one range. Undefined for the other side. */
function sideOf({ name }: Parameter, side: ReadonlySet<string>): string | undefined {
  const words = wordsOf(name.replaceAll('.', ' '));
  const at = words.findIndex((word) => side.has(word));
  if (at < 0) return undefined;
  return words.filter((word, index) => index !== at && word !== 'date' && word !== 'utc').join(' ');
}

/** The name first; where it says nothing, the description. */
function meaningOf(stem: string, from: Parameter, to: Parameter): Meaning {
  const named = meanings.find(([, pattern]) => pattern.test(stem));
  if (named !== undefined) return named[0];
  const about = `${from.about} ${to.about}`.toLowerCase().replaceAll('-', ' ');
  const described = meanings.filter(([, pattern]) => pattern.test(about)).map(([meaning]) => meaning);
  if (isNeutral(stem)) return described.length === 1 ? (described[0] ?? 'unsaid') : 'unsaid';
  return described.find((meaning) => meaning === 'booking' || meaning === 'change') ?? 'something else';
}

const isNeutral = (stem: string) => /^(?:(?:reservation|booking|range|period|window|filter|search)s?)?$/.test(stem);

/** `dateFilter: [ArrivalDate, DepartureDate, StayDate]`: without it the range means nothing. */
function selectorOf(
  parameters: readonly Parameter[],
): { readonly parameter: Parameter; readonly value: Json; readonly by: Meaning } | undefined {
  for (const parameter of parameters) {
    if (!/date|filter|mode|type|by/i.test(parameter.name)) continue;
    const values = enumOf(parameter.schema);
    const choices = (values.length > 0 ? values : quotedIn(parameter.about)).map((value) => ({
      value,
      text: wordsOf(String(value)).join(' '),
    }));
    const kinds = (['stay', 'arrival', 'departure'] as const).flatMap((by) => {
      const pattern = meanings.find(([meaning]) => meaning === by)?.[1];
      const choice = choices.find(({ text }) => pattern?.test(text) === true && !/\bstatus\b/.test(text));
      return choice === undefined ? [] : [{ by, value: choice.value }];
    });
    const [first] = kinds;
    if (kinds.length >= 2 && first !== undefined) return { parameter, ...first };
  }
  return undefined;
}

/** The values that a sentence quotes: One of "arrivals", "departures" or "in_house". */
const quotedIn = (about: string): string[] =>
  Array.from(about.matchAll(/["'`]([\w-]+)["'`]/g), ([, value]) => value ?? '');

/** Whether the range stops before the day that the parameter names. If in doubt, one day too many is harmless. */
function excludesItsDay({ name, about }: Parameter): boolean {
  return (
    wordsOf(name).some((word) => word === 'before' || word === 'lt') || /\bexclusive|\bexclud|\bnot includ/i.test(about)
  );
}

/** A day in the partner's format: from the example, else the description, else the format. */
function writtenDay(parameter: Parameter, side: 'from' | 'to', pair: { from: Parameter; to: Parameter }): string {
  const end = side === 'to' && excludesItsDay(parameter) ? 'after' : side;
  const placeholder = `{window.${end}}`;
  const both = [pair.from, pair.to];
  const format = shownFormat(
    both.map(({ schema }) => exampleOf(schema)),
    both.map(({ about }) => about).join(' '),
  );
  if (format !== undefined && format !== 'iso') return `{window.${end}:${format}}`;
  const example = textOf(exampleOf(parameter.schema));
  if (parameter.schema.format === 'date-time' && /utc/i.test(`${parameter.name} ${parameter.about}`))
    return `{window.${side}_utc}`;
  const time = end === 'to' ? '23:59:59' : '00:00:00';
  if (/^\d{4}-\d{2}-\d{2}$/.test(example)) return placeholder;
  const shown = /^\d{4}-\d{2}-\d{2}([ T])\d{2}:\d{2}:\d{2}(Z?)/.exec(example);
  if (shown !== null) return `${placeholder}${shown[1]}${time}${shown[2]}`;
  if (parameter.schema.format !== 'date-time' || /YYYY-MM-DD(?![ T]*HH)/i.test(parameter.about)) return placeholder;
  // Generated schemas declare a date-time where the description's own text says date.
  const called = `${wordsOf(parameter.name).join(' ')} ${parameter.about}`;
  return /\bdate\b/i.test(called) && !/date-?time|\btime\b|\bhours?\b/i.test(called)
    ? placeholder
    : `${placeholder}T${time}`;
}

const changeWords = /^(?:modif\w*|updat\w*|chang\w*|edit\w*)$/;
const startWords = new Set(['since', 'from', 'after', 'start', 'gte', 'gt', 'min']);

export interface SinceParameter {
  readonly parameter: Parameter;
  readonly value: string;
  /** A day begins at different moments at the property, in UTC and at the partner: ask for one day more. */
  readonly overlap?: '1d';
}

/** The parameter of a list by modification time: modifiedSince, updated_after, lastChangeFrom. */
export function findSince({ parameters }: Operation): Proposed<SinceParameter> | undefined {
  const since = parameters
    .filter((one) => one.in === 'query' || one.in === 'body')
    .flatMap((parameter) => {
      const words = wordsOf(parameter.name.replaceAll('.', ' '));
      const isStart = words.some((word) => startWords.has(word));
      const isChange = words.some((word) => changeWords.test(word));
      const isAlone = words.includes('since') && /modif|updat|chang/i.test(parameter.about);
      const type = typeOf(parameter.schema);
      const isTime = isDate(parameter) || type === 'integer' || type === 'number' || words.includes('since');
      return (isChange && isStart) || isAlone ? [{ parameter, isTime }] : [];
    })
    .filter(({ isTime }) => isTime)
    .toSorted((a, b) => Number(b.parameter.required) - Number(a.parameter.required))[0];
  if (since === undefined) return undefined;
  const { parameter } = since;
  const { format } = parameter.schema;
  const isNumber = typeOf(parameter.schema) === 'integer' || typeOf(parameter.schema) === 'number';
  const unit = /\bmilli|\bms\b/i.test(parameter.about) ? 'ms' : 's';
  const value = isNumber ? `{since:epoch_${unit}}` : format === 'date' ? '{since:YYYY-MM-DD}' : '{since}';
  return {
    value: { parameter, value, ...(!isNumber && format === 'date' && { overlap: '1d' }) },
    confidence: 0.85,
    reason: `${parameter.name} asks for what changed since a moment; one sync is enough`,
  };
}
