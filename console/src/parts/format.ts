import type { Json } from '../api/types.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'info' | 'accent';

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' });
/** The browser's, in which all times are shown. */
export const zone = full.resolvedOptions().timeZone;
const numbers = new Intl.NumberFormat('en');

export const number = (value: number): string => numbers.format(value);
export const instant = (text: string): string => full.format(new Date(text));

/** The time of day, with the date unless it is today. */
export function clockOf(text: string): string {
  const at = new Date(text);
  return at.toDateString() === new Date().toDateString() ? clock.format(at) : `${day.format(at)} ${clock.format(at)}`;
}

export function ago(text: string, nowMs = Date.now()): string {
  const ms = nowMs - new Date(text).getTime();
  const whole = (seconds: number) => span(seconds * 1_000).replace('.0', '');
  if (ms < 0) return `in ${whole(Math.ceil(-ms / 1_000))}`;
  return ms < 4_000 ? 'just now' : `${whole(Math.round(ms / 1_000))} ago`;
}

export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** A share of one, as a percentage. */
/** Rounded down close to the whole: "100 %" is said of all only. */
export function percent(share: number): string {
  if (share === 0 || share === 1) return `${share * 100} %`;
  if (share > 0.995) return `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
  return `${(share * 100).toFixed(share < 0.095 ? 1 : 0)} %`;
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1_000).toFixed(0)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}

const syncNames: Record<string, string> = {
  pre_stay: 'Pre-stay',
  stay: 'Stay',
  post_stay: 'Post-stay',
  backfill: 'Backfill',
};
/** The kind of an alert in words. */
export const alertWords = (kind: string): string => (kind === 'breaker_open' ? 'partner’s API down' : words(kind));

export const syncName = (sync: string): string => syncNames[sync] ?? sync;
const causes: Record<string, string> = {
  run: 'by a pull',
  event: 'by an event',
  guest: 'by an update of its guest',
  replay: 'by a replay',
  erasure: 'by an erasure',
  reprocess: 'by reprocessing its payload',
};
export const causeOf = (cause: string, type?: string): string =>
  type === 'guest' && cause === 'guest' ? 'from its bookings' : (causes[cause] ?? `by ${words(cause)}`);
/** The service's own destination, which keeps the profiles, has a name that no document has. */
export const destinationName = (name: string): string => (name === 'innbound:profiles' ? 'the guest profiles' : name);
/** With a full stop, so that another sentence can follow. */
export const sentence = (text: string): string => text.replace(/\.?$/, '.');

/** `guests[0].phone` as "guest 1, phone". */
export const fieldName = (path: string): string =>
  path
    .replace(/^\[(\d+)\]\.record\b/, 'records[$1]')
    .replace(/\b(\w+?)s?\[(\d+)\]/g, (_, list: string, at: string) => `${list} ${Number(at) + 1}`)
    .replaceAll('.', ', ')
    .replaceAll('_', ' ');

/** `checked_in` as "checked in". */
export const words = (code: string): string => (code === 'hydrate' ? 'to be fetched' : code.replaceAll('_', ' '));
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

export function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const brandsText = (brands: readonly string[]): string =>
  brands.length === 0 ? 'the service' : brands.length > 5 ? plural(brands.length, 'brand') : brands.join(', ');
