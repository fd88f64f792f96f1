import { type FieldKind, listFields, reservationFields } from '../../../src/core/canonical/fields.ts';
import { isCurrency, toCountry } from '../../../src/core/canonical/values.ts';
import type { Json } from '../../../src/terms.ts';
import { dateFormat, isNoDate, numberFormat } from './formats.ts';
import { isTiny, type Leaf, plain, present } from './leaf.ts';
import { guessBoard, guessConsent, guessStatus } from './vocabulary.ts';
import { wordSet } from './words.ts';

/** How the values of a field look, beyond their kind. */
type Look = FieldKind | 'email' | 'phone' | 'name' | 'id' | 'code' | 'board' | 'number_text' | 'reference';

const looks: ReadonlyMap<string, Look> = new Map(
  Object.entries({
    id: 'id',
    reference: 'confirmation_number',
    number_text: 'guest_id document_number',
    name: 'first_name last_name full_name second_name',
    email: 'email',
    phone: 'phone',
    code: 'channel source room_type rate_code document_type code',
    board: 'board',
  }).flatMap(([look, fields]) => fields.split(' ').map((field) => [field, look as Look] as const)),
);

const { guests, rooms, charges } = listFields;
const kinds: ReadonlyMap<string, FieldKind> = new Map(
  Object.entries({ ...reservationFields, ...guests, ...rooms, ...charges }),
);

export const kindOf = (field: string): FieldKind => kinds.get(field) ?? 'text';

/** How well the values fit the field, 0 to 1, and a description of them for the reason. */
export function compatibility(field: string, leaf: Leaf): { readonly score: number; readonly seen: string } {
  const values = present(leaf);
  // Without an id every record would be lost.
  if (values.length === 0) return { score: field === 'id' ? 0 : 0.45, seen: 'no value in the sample' };
  const all = (test: (value: Json) => boolean, seen: string) => {
    const share = values.filter(test).length / values.length;
    return {
      score: share,
      seen: share === 1 ? `all values ${seen}` : `${Math.round(share * 100)} % of the values ${seen}`,
    };
  };
  if (leaf.kind === 'list') {
    const counted = field === 'children' && (leaf.own.includes('ages') || areAges(values));
    return { score: counted ? 1 : 0, seen: 'a list of ages, which is counted' };
  }
  if (leaf.kind === 'many') {
    const summed = field === 'quantity' && values.flat().every((value) => typeof value === 'number');
    return { score: summed ? 0.9 : 0, seen: 'numbers in a list, which are added up' };
  }
  switch (looks.get(field) ?? kindOf(field)) {
    case 'date':
    case 'birth_date': {
      const real = values.filter((value) => !isNoDate(value));
      const layout = dateFormat(real);
      if (layout === undefined) return { score: 0, seen: 'no dates' };
      // A plain date is preferred: an instant has to be converted.
      const timed = real.some((value) => /\d[T ]\d/.test(plain(value)));
      const how = `dates (${layout.format}${timed ? ', with a time' : ''})`;
      return {
        score: layout.share * (timed ? 0.95 : 1),
        seen: layout.share === 1 ? `all values are ${how}` : `most values are ${how}`,
      };
    }
    case 'decimal': {
      if (field === 'total_amount' && values.every((value) => /^\d{1,2}$/.test(plain(value)) && Number(value) <= 30))
        return { score: 0, seen: 'small whole numbers' };
      if (field === 'total_amount' && values.length > 1 && values.every((value) => Number(value) === 0))
        return { score: 0, seen: 'nothing but zeros' };
      const notation = numberFormat(values);
      return { score: notation === undefined ? 0 : 1, seen: 'all values are amounts' };
    }
    case 'count':
    case 'integer':
      if (/\[\d\]$/.test(leaf.path)) return { score: 0, seen: 'one of a list' };
      // A German child, or the kind of a room: only children are often none.
      if (field === 'children' && leaf.own.includes('kind') && values.every((value) => Number(value) > 0))
        return { score: 0, seen: 'never none' };
      return all((value) => /^\d{1,4}$/.test(plain(value)), 'are whole numbers');
    case 'boolean':
      return all(
        (value) =>
          typeof value === 'boolean' ||
          /^(?:yes|no|y|n|0|1|true|false)$/i.test(plain(value)) ||
          guessConsent(plain(value)) !== undefined,
        'are yes or no',
      );
    case 'currency':
      return all((value) => isCurrency(plain(value).toUpperCase()), 'are currencies of ISO 4217');
    case 'country':
      return all((value) => toCountry(plain(value)) !== undefined, 'are countries');
    case 'status': {
      const known = all((value) => guessStatus(plain(value)) !== undefined, 'are known statuses');
      // Unknown codes are still statuses if a few of them cover many records.
      return known.score >= 0.5 || !areFewCodes(values) ? known : { score: 0.5, seen: 'a few codes, not recognised' };
    }
    case 'email':
      return all((value) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(plain(value)), 'are e-mail addresses');
    case 'phone':
      // Numbers of contacts look like phones as well: without a word for a phone, only a plus or a separator shows one.
      if (
        ![...leaf.own, ...leaf.around.slice(-1)].some((word) => phoneWords.has(word)) &&
        values.every((value) => /^[1-9]\d+$/.test(plain(value)))
      )
        return { score: 0, seen: 'bare numbers' };
      return all((value) => /^[+(]?[\d\s().\-/+x]{5,24}$/.test(plain(value)), 'look like phone numbers');
    case 'name':
      return all(
        (value) => typeof value === 'string' && /\p{L}/u.test(value) && !/[\d@]/.test(value) && value.length < 80,
        'look like names',
      );
    case 'id': {
      const unique = new Set(values.map(plain)).size === values.length && values.length === leaf.values.length;
      if (values.every(isTiny) && !leaf.own.includes('id')) return { score: 0.2, seen: 'small numbers' };
      return { score: unique ? 1 : 0.2, seen: unique ? 'every record has its own' : 'not one for each record' };
    }
    case 'board':
      return all((value) => guessBoard(plain(value)) !== undefined || typeof value === 'string', 'can be boards');
    case 'code':
      if (values.every((value) => isTiny(value) || isFraction(value)))
        return { score: field === 'room_type' && leaf.own.at(-1) === 'id' ? 0.5 : 0, seen: 'small numbers' };
      if (values.every((value) => rentalKinds.has(plain(value).toLowerCase().replaceAll(' ', '_'))))
        return { score: 0.2, seen: 'kinds of rental' };
      if (
        ['channel', 'rate_code', 'room_type'].includes(field) &&
        values.length > 2 &&
        new Set(values.map(plain)).size === 1
      )
        return { score: 0.5, seen: 'the same in every record' };
      if (field === 'rate_code' && values.every((value) => guessBoard(plain(value)) !== undefined))
        return { score: 0, seen: 'boards' };
      if (values.every((value) => /^\d{6,}$/.test(plain(value))))
        return { score: field === 'channel' || field === 'source' ? 0 : 0.75, seen: 'long numbers' };
      return all((value) => isCode(value), 'are short texts');
    case 'reference':
      if (/\[\d\]$/.test(leaf.path) && values.every(Number.isInteger)) return { score: 0, seen: 'one of many numbers' };
      if (values.every(isTiny) || (values.length > 1 && new Set(values.map(plain)).size * 2 <= values.length))
        return { score: 0, seen: 'the same in many records' };
      if (values.some((value) => /^(?:urn:|https?:)/.test(plain(value)))) return { score: 0, seen: 'addresses' };
      return all((value) => /^(?=.*\d|\P{Ll}+$).{1,64}$/u.test(plain(value)), 'are numbers or codes');
    case 'number_text':
      return all((value) => typeof value !== 'boolean' && plain(value).length <= 64, 'are numbers or codes');
    default:
      if (field === 'room_kind') return all((value) => /pseudo|house|^room$/i.test(plain(value)), 'are kinds of room');
      return all((value) => typeof value === 'string' || typeof value === 'number', 'are texts');
  }
}

const phoneWords = wordSet('phone phones telephone mobile mobiles cell tel msisdn handynummer rufnummer');

/** Classes of rentals and rooms, not room types of the property. */
const rentalKinds = wordSet(
  'entire_home entire_place private_room shared_room hotel_room private shared privada compartida privata condivisa normal',
);

function areAges(lists: readonly Json[]): boolean {
  const ages = lists.flat();
  return ages.length > 0 && ages.every((age) => /^(?:1?\d)$/.test(plain(age)));
}

/** At most 12 short codes, fewer than the values. */
function areFewCodes(values: readonly Json[]): boolean {
  const codes = new Set(values.map(plain));
  return (
    codes.size <= 12 && (codes.size < values.length || values.length < 8) && values.every((value) => isCode(value))
  );
}

const isFraction = (value: Json): boolean => /^-?\d+[.,]\d+$/.test(plain(value));

function isCode(value: Json): boolean {
  if (typeof value === 'boolean') return false;
  const text = plain(value);
  return text.length <= 60 && !text.includes('@') && !/^\d{4}-\d{2}-\d{2}/.test(text) && !/^https?:/.test(text);
}
