import { type Preset, presets } from '../../src/core/deliver/destinations/http/preset.ts';
import type { Account, PersonSeen } from './vendors/account.ts';

/** The segments that a marketer builds on the first day, as filters over what a vendor keeps of a person. Days are relative to today. */

type Field = 'next_check_in' | 'in_house_until' | 'last_check_out' | 'stays' | 'birthday_in_stay' | 'last_cancelled';

type Condition =
  | { readonly field: Field; readonly is: 'on' | 'from' | 'before'; readonly day: number }
  | { readonly field: Field; readonly is: 'between'; readonly days: readonly [number, number] }
  | { readonly field: Field; readonly is: 'at_least'; readonly number: number }
  | { readonly field: Field; readonly is: 'empty' }
  | { readonly is: 'subscribed' };

export const segments: Readonly<Record<string, readonly Condition[]>> = {
  'arriving in three days, with consent': [{ field: 'next_check_in', is: 'on', day: 3 }, { is: 'subscribed' }],
  'in house': [{ field: 'in_house_until', is: 'from', day: 0 }],
  'left yesterday': [{ field: 'last_check_out', is: 'on', day: -1 }],
  'stayed twice': [{ field: 'stays', is: 'at_least', number: 2 }],
  'birthday in the stay': [{ field: 'birthday_in_stay', is: 'from', day: 0 }],
  'cancelled last week': [{ field: 'last_cancelled', is: 'between', days: [-7, 0] }],
  'no stay for a year': [
    { field: 'last_check_out', is: 'before', day: -365 },
    { field: 'next_check_in', is: 'empty' },
    { field: 'in_house_until', is: 'empty' },
  ],
};

/** Where to click, how the vendor says that a person may be mailed, and what its filters of dates need. */
const vendors: Readonly<Record<string, { where: string; subscribed: string; hint?: string }>> = {
  hubspot: {
    where: 'CRM, Segments (Lists), active, filter by contact property',
    subscribed: 'opted in to `subscription_id`',
    hint: 'For one day combine "more than 2 days from now" and "less than 4 days from now".',
  },
  klaviyo: {
    where: 'Audience, Lists & segments, Properties about someone',
    subscribed: 'can receive e-mail marketing',
  },
  mailchimp: { where: 'Audience, Segments, contact details', subscribed: 'e-mail marketing status is subscribed' },
  braze: {
    where: 'Audience, Segments, custom attributes',
    subscribed: 'e-mail available',
    hint: 'Braze has no filter for one day: combine "more than 2 days in the future" and "less than 4 days in the future".',
  },
  brevo: { where: 'Contacts, Segments, contact attributes', subscribed: 'in `list_id` and not blocklisted' },
  salesforce: { where: 'Reports or list views of Contact', subscribed: 'Email Opt Out is false' },
  dynamics: { where: 'Advanced find or a segment of Contact', subscribed: 'Bulk Email is Allow' },
};

/** The vendor's name for a value of `guest.history`, with the prefix that `prepare` sets up. */
function nameOf({ body, on }: Preset, field: Field): string {
  const prefixes: Record<string, string> = { merge_prefix: 'IB', contact_prefix: 'Innbound' };
  for (const [key, value] of entriesOf([body, on.details])) {
    if (!String(value).startsWith(`{guest.history.${field}`)) continue;
    return key.replace(/\{with\.(\w+)\}/, (_, name) => prefixes[name] ?? (/[A-Z]/.test(key) ? 'INNBOUND' : 'innbound'));
  }
  throw new Error(`${field} is not sent`);
}

function* entriesOf(template: unknown): Generator<[string, unknown]> {
  if (typeof template !== 'object' || template === null) return;
  for (const [key, value] of Object.entries(template)) {
    yield [key, value];
    yield* entriesOf(value);
  }
}

const dayAfter = (today: string, days: number): string =>
  new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10);

/** The people of an account in a segment, as the vendor would find them. */
export function peopleIn(account: Account, segment: string, today: string): readonly (string | undefined)[] {
  const preset = presets.get(account.preset) as Preset;
  const isIn = (person: PersonSeen) =>
    segments[segment]?.every((condition) => {
      if (condition.is === 'subscribed') return person.subscribed !== false;
      const all = JSON.parse(person.text) as Record<string, unknown>;
      const value = ({ ...all, ...(all.properties as object) } as Record<string, unknown>)[
        nameOf(preset, condition.field)
      ];
      const isEmpty = value === undefined || value === null || value === '';
      if (condition.is === 'empty') return isEmpty;
      if (isEmpty) return false;
      if (condition.is === 'at_least') return Number(value) >= condition.number;
      const date = String(value);
      if (condition.is === 'between')
        return date >= dayAfter(today, condition.days[0]) && date <= dayAfter(today, condition.days[1]);
      const day = dayAfter(today, condition.day);
      return condition.is === 'on' ? date === day : condition.is === 'from' ? date >= day : date < day;
    });
  return account
    .people()
    .filter(isIn)
    .map(({ first }) => first)
    .sort();
}

/** The section of the vendor's page, which tells a person what to click. */
export function sectionOf(name: string): string {
  const preset = presets.get(name) as Preset;
  const { where, subscribed, hint } = vendors[name] as (typeof vendors)[string];
  const words = (condition: Condition): string => {
    if (condition.is === 'subscribed') return subscribed;
    const field = `\`${nameOf(preset, condition.field)}\``;
    if (condition.is === 'empty') return `${field} is empty`;
    if (condition.is === 'at_least') return `${field} is ${condition.number} or more`;
    if (condition.is === 'between') return `${field} is in the last ${-condition.days[0]} days`;
    if (condition.is === 'from') return `${field} is today or later`;
    if (condition.is === 'before') return `${field} is more than ${-condition.day} days ago`;
    return condition.day === -1 ? `${field} is yesterday` : `${field} is in ${condition.day} days`;
  };
  const rows = Object.entries(segments).map(([segment, all]) => `| ${segment} | ${all.map(words).join('; ')} |`);
  const intro = `They work after the first import, without stays or moments: ${where}.`;
  return ['## Segments', '', intro, ...(hint ? [hint] : []), '', '| segment | filter |', '|---|---|', ...rows, ''].join(
    '\n',
  );
}
