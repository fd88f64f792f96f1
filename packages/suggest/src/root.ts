import { pathReader } from '../../../src/core/json-path/read.ts';
import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { areIds, child, keysOf, type Leaf } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { reservationWords } from './lexicon.ts';
import { weigh } from './match.ts';
import { matchReservation } from './reservation-fields.ts';
import { wordsOf } from './words.ts';

export interface Root {
  /** As root_path; undefined if the sample is the list itself. */
  readonly path: string | undefined;
  readonly records: readonly Json[];
  readonly keys?: RecordKeys;
  readonly envelope: JsonObject;
  /** The sample is a single reservation, not a list. */
  readonly single: boolean;
  /** The inner list with the dates of the stay, if the record itself has none. */
  readonly stays?: string;
  readonly confidence: number;
  readonly reason: string;
}

/** The most records to examine. */
export const most = 60;

interface Candidate extends Pick<Root, 'records' | 'keys'> {
  readonly path: string;
  /** An object, not a list. */
  readonly single?: boolean;
  readonly words: readonly string[];
  readonly depth: number;
}

/** The list whose items look most like reservations: two dates of a stay, an id, a status, a matching name. */
export function findRoot(sample: Json): Root | undefined {
  const envelope = isObject(sample) ? sample : {};
  const scored = candidates(sample)
    .map((candidate) => ({ ...candidate, score: scoreOf(candidate) }))
    .sort((a, b) => b.score - a.score || a.depth - b.depth);
  const [best] = scored;
  if (best === undefined) return undefined;
  const holder = outermost(best, scored);
  const { path, records, keys, single = false, score } = holder ?? best;
  if (holder === undefined && score < 2) return undefined;
  const named = path === '' ? 'the response' : path;
  return {
    path: path === '' ? undefined : path,
    records: records.slice(0, most),
    ...(keys && { keys: { ...keys, values: keys.values.slice(0, most) } }),
    // What is beside the fields of one reservation is not an envelope.
    envelope: single ? {} : envelope,
    single,
    ...(holder && { stays: holder.stays }),
    confidence: single ? 0.6 : holder ? 0.8 : Math.min(0.99, Math.round((0.5 + score / 12) * 100) / 100),
    reason: holder
      ? `each record under ${named} has its own id, and its stays under ${holder.stays}`
      : single
        ? `${named} is one reservation`
        : `the list under ${named} has records with the dates of a stay`,
  };
}

const listNames = new Set(['reservation', 'reservations', 'booking', 'bookings']);

interface Scored extends Candidate {
  readonly score: number;
}

type Holder = Scored & { readonly stays: string };

/** The records around a list of stays, which may itself be in a list, such as the days of each guest in the rooms. */
function outermost(best: Scored, all: readonly Scored[]): Holder | undefined {
  const holders = around(best, all);
  const outer = holders.filter(({ single }) => !single).map((holder) => outermost(holder, all));
  return outer.find((one) => one !== undefined) ?? holders.find(isReservation);
}

/** The objects that each have such a list. */
function around(best: Scored, all: readonly Scored[]): Holder[] {
  return all.flatMap((holder) => {
    const start = holder.path + (holder.single ? (holder.path === '' ? '' : '.') : '[].');
    const stays = best.path.slice(start.length);
    const isInside = holder !== best && best.path.startsWith(start) && /^[^[\]'"]+$/.test(stays);
    const isIn = (record: Json) => Array.isArray(pathReader(stays)(record));
    return isInside && holder.records.every(isIn) ? [{ ...holder, stays }] : [];
  });
}

/**
 * Reservations have their own ids. A single object around a list may also be an envelope, and what has a list of reservations is often a
 * property, so that these must have more of a reservation.
 */
function isReservation({ records, single, stays }: Holder): boolean {
  const own = leavesOf(records.slice(0, 20)).filter(({ path }) => !path.startsWith(stays));
  const matches = matchReservation(own);
  // A confirmation number can be the id; wholeFields takes it if it is unique.
  const hasId = ['id', 'confirmation_number'].some(
    (field) => Number(matches.get(field)?.leaf.depth) <= (single ? 0 : 1),
  );
  const more = ['status', 'booking_date', 'channel', 'total_amount'].filter((field) => matches.has(field));
  const isListOfThem = listNames.has(wordsOf(stays.replace(/.*\./, '')).join(' '));
  if (single) return hasId && more.length > 2 && !isListOfThem;
  return hasId && (!isListOfThem || (more.length > 0 && matches.has('confirmation_number')));
}

function candidates(sample: Json): Candidate[] {
  const choices: Candidate[] = [];
  const look = (value: Json, path: string, words: readonly string[], depth: number): void => {
    if (depth > 8) return;
    if (Array.isArray(value)) {
      // Lists of lists, or a result code before the list: [0, [...]].
      const lists = value.filter(Array.isArray);
      if (lists.length > 1 && lists.length === value.length) look(lists.flat(), `${path}[][]`, words, depth + 1);
      else
        for (const [at, inner] of value.slice(0, 3).entries())
          if (Array.isArray(inner)) look(inner, `${path}[${at}]`, words, depth + 1);
      const records = value.filter(isObject);
      if (records.length === 0) return;
      choices.push({ path, records, words, depth });
      const keys = [...new Set(records.slice(0, most).flatMap(keysOf))];
      const [only = ''] = keys;
      // Each record in an object of its own: [{ reservation: { … } }].
      if (keys.length === 1 && records.every((record) => isObject(record[only])))
        look(
          records.map((record) => record[only] ?? null),
          child(`${path}[]`, only),
          wordsOf(only),
          depth,
        );
      for (const key of keys) {
        const at = child(`${path}[]`, key);
        const values = records.flatMap((record) => (record[key] === undefined ? [] : [record[key]]));
        lookInside(values, at, wordsOf(key), depth + 2);
        const objects = values.filter(isObject);
        for (const name of new Set(objects.slice(0, most).flatMap(keysOf)))
          lookInside(
            objects.map((object) => object[name] ?? null),
            child(at, name),
            wordsOf(name),
            depth + 2,
          );
      }
    } else if (isObject(value) && areIds(Object.keys(value).filter((key) => typeof value[key] === 'object'))) {
      lookUnderKeys(value, path, words, depth);
    } else if (isObject(value)) {
      choices.push({ path, records: [value], single: true, words, depth });
      for (const key of keysOf(value)) look(value[key] ?? null, child(path, key), wordsOf(key), depth + 1);
    }
  };
  /** The lists among the values of one key in all records. */
  const lookInside = (values: readonly Json[], path: string, words: readonly string[], depth: number): void => {
    const items = values.flatMap((value) => (Array.isArray(value) ? value : []));
    if (items.length > 0) look(items, path, words, depth);
  };
  /** Records, or lists of them, under keys that are data. */
  const lookUnderKeys = (value: JsonObject, path: string, words: readonly string[], depth: number): void => {
    const under = (inner: JsonObject) =>
      Object.entries(inner).flatMap(([key, list]) => (Array.isArray(list) ? list : []).map((item) => ({ key, item })));
    const add = (pairs: readonly { key: string; item: Json }[], at: string, key: RecordKeys['path']) => {
      const records = pairs.filter(({ item }) => isObject(item));
      const keys = { path: key, values: records.map((one) => one.key) };
      if (records.length > 0) choices.push({ path: at, records: records.map(({ item }) => item), keys, words, depth });
    };
    add(under(value), `${path}[][]`, '$parent.$key');
    const objects = Object.entries(value).flatMap(([key, item]) => (isObject(item) ? [{ key, item }] : []));
    add(objects, `${path}[]`, '$key');
    for (const name of new Set(objects.flatMap(({ item }) => keysOf(item)))) {
      const lists = Object.fromEntries(objects.map(({ key, item }) => [key, item[name] ?? null]));
      add(under(lists), child(`${path}[]`, name), '$parent.$key');
    }
  };
  look(sample, '', [], 0);
  return choices;
}

const worth = {
  check_in: 2,
  check_out: 2,
  status: 1,
  id: 1,
  confirmation_number: 0.5,
  booking_date: 0.5,
  channel: 0.5,
  total_amount: 0.5,
};

function scoreOf({ records, keys, single, words, depth, path }: Candidate): number {
  const leaves = leavesOf(records.slice(0, 20));
  const first = keys && { ...keys, values: keys.values.slice(0, 20) };
  const matched = matchReservation([...leaves, ...keyLeaf(first, leaves)]);
  // Both dates are required: other lists have dates too.
  if (!matched.has('check_in') || !matched.has('check_out')) return 0;
  const score = weigh(matched, worth) + (words.some((word) => reservationWords.has(word)) ? 0.6 : 0);
  // Never below a list without dates: stays inside records may have nothing but their dates.
  return Math.max(0.1, score - 0.15 * depth - (path.includes('[]') ? 2 : 0) - (single ? 0.01 : 0));
}

/** The keys under which a response groups its records, one per record. */
export interface RecordKeys {
  readonly path: '$key' | '$parent.$key';
  readonly values: readonly string[];
}

const day = /^\d{4}-\d{2}-\d{2}$/;
/** A match that rests on the values alone. */
const weak = 0.55;

/**
 * The key as a field of its record: a day is the arrival, the key of a single record its id. The record's own field is better, so there
 * is no leaf if the record has one.
 */
export function keyLeaf(keys: RecordKeys | undefined, leaves: readonly Leaf[]): Leaf[] {
  if (keys === undefined) return [];
  const { path, values } = keys;
  const isDay = values.every((value) => day.test(value));
  const field = isDay ? 'check_in' : path === '$key' ? 'id' : undefined;
  if (field === undefined || (matchReservation(leaves).get(field)?.confidence ?? 0) > weak) return [];
  const own = [isDay ? 'arrival' : 'id'];
  return [{ path, source: path, own, around: [], values, kind: 'value', depth: 0, isKey: true }];
}
