import { isObject, type Json, type JsonObject } from '../../terms.ts';
import type { Traces } from './traces.ts';

type KeyValue = readonly [key: string, value: Json];

const addressPattern = /[^\s@]+@[^\s@]+\.[^\s@]+/;
const personalKey = /name|mail|phone|mobile|birth|passport|document|nationality/i;
const nameKey = /name|given|family|first|last/i;
const idKey = /guest|profile|customer|person|client/i;

/**
 * The parts of a payload that are about a person, for an access request: each object that names the person, without parts that name other
 * people. Of an object that also names other people, such as a booking with the address of the person who booked it, only the values that
 * name the person.
 */
export function ownParts(traces: Traces, value: Json): Json[] {
  const parts: Json[] = [];
  const visit = (one: Json): void => {
    if (Array.isArray(one)) for (const child of one) visit(child);
    else if (isObject(one)) visitObject(Object.entries(one));
    else if (traces.inJson(one)) parts.push(one);
  };
  const visitObject = (entries: readonly KeyValue[]): void => {
    const flat = entries.filter(([, child]) => isFlat(child));
    const nested = entries.filter(([, child]) => !isFlat(child));
    const part = namesPerson(traces, flat) ? ownPart(traces, flat, nested) : {};
    if (Object.keys(part).length > 0) parts.push(part);
    for (const [key, child] of nested) {
      if (part[key] !== undefined) continue;
      // An object by addresses.
      if (traces.inText(key)) parts.push({ [key]: child });
      else visit(child);
    }
  };
  visit(value);
  return parts;
}

/** A value without objects in it. */
const isFlat = (value: Json): boolean =>
  Array.isArray(value) ? !value.some((one) => typeof one === 'object' && one !== null) : !isObject(value);

/** By an address or a number, by the full name, or by the partner's id of the guest. */
function namesPerson(traces: Traces, flat: readonly KeyValue[]): boolean {
  const texts = flat.flatMap(([, value]) => value).filter((one) => typeof one === 'string');
  const isId = ([key, value]: KeyValue) => idKey.test(key) && traces.guestIds.includes(String(value));
  return (
    flat.some(([key, value]) => traces.inJson({ [key]: value })) || traces.namedIn(texts.join('\n')) || flat.some(isId)
  );
}

function ownPart(traces: Traces, flat: readonly KeyValue[], nested: readonly KeyValue[]): JsonObject {
  const naming = flat
    .filter(([key, value]) => traces.inJson({ [key]: value }))
    .map(([key, value]) => [key, Array.isArray(value) ? value.filter((one) => traces.inJson(one)) : value] as const);
  const isForeign = (value: Json): boolean => namesAnyone(value) && !traces.inJson(value);
  if (flat.some(([, value]) => [value].flat().some(isForeign))) return Object.fromEntries(naming);
  const others = nested.filter(([, value]) => holdsPerson(value));
  const names = flat.filter(([key]) => nameKey.test(key)).map(([, value]) => String(value));
  const isOwnName = others.length === 0 || traces.namedIn(names.join('\n'));
  const kept = flat.filter(([key]) => isOwnName || !personalKey.test(key));
  const further = nested.filter((one) => !others.includes(one));
  return Object.fromEntries([...kept, ...further, ...naming]);
}

const namesAnyone = (value: Json): boolean => typeof value === 'string' && addressPattern.test(value);

/** Whether a person is named in it, this one or another. */
function holdsPerson(value: Json): boolean {
  if (Array.isArray(value)) return value.some(holdsPerson);
  if (!isObject(value)) return namesAnyone(value);
  return Object.entries(value).some(
    ([key, one]) => (typeof one === 'string' && personalKey.test(key)) || holdsPerson(one),
  );
}
