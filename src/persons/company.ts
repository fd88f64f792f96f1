import type { Guest } from '../canonical/reservation.ts';
import { fold } from './fold.ts';
import { isGivenName } from './given-names.ts';

type Names = Pick<Guest, 'first_name' | 'last_name'>;

const listed = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Legal forms that are nobody's name, wherever they stand. */
const legalForms =
  listed(`gmbh mbh kgaa ohg gbr ltd limited llc llp plc inc incorporated corp corporation pty sarl eurl sasu bvba lda ltda
  unipessoal eireli srl srls slu kft zrt sro spzoo oyj aps eood aktiengesellschaft gesellschaft spol`);
/** Legal forms that are also names, such as Ağ, Sas and Sá. */
const shortForms = listed('ag kg ug se sa sl sau sas snc sci spa nv bv ab as oy hf ev ek eg ad ood doo asa co cie');
/** What companies call themselves. */
const trades =
  listed(`company firma empresa societe holding holdings group gruppe consulting solutions services foundation stiftung verein turnverein sportverein university
  universitat universidade universidad universite hotel hotels hostel resort travel travels tours touristik tourism turismo reisen reiseburo
  viajes viagens voyages viaggi agency agencia agenzia agence agentur booking bookingcom expedia airbnb tui airlines airways`);
/** Without one of these words, and a sign, a name is a person's: most names are compared no further. */
const mayName = legalForms.union(shortForms).union(trades);
const family = /[&+]\s*(?:co|cie|sons?|sohne|partners?|fils|hijos|filhos|figli)(?![a-z])/;

/**
 * Whether a name is a company's. A legal form that is also a name counts at the end of a field that looks like a company's: as it is written
 * (Krone AG, Petra S.A.), or without any given name. A given name with one last name is a person: Rui Reisen.
 */
export function isCompany({ first_name: first = '', last_name: last = '' }: Names, words: readonly string[]): boolean {
  if (!words.some((word) => mayName.has(word)) && !/[./&+]/.test(first + last)) return false;
  const fields = [first, last].map(wordsOf);
  const [given = [], surname = []] = fields;
  if ([first, last].some((field) => family.test(fold(field)))) return true;
  if (fields.flat().some((word) => legalForms.has(word))) return true;
  if (given.length > 0 && surname.length === 1 && given.every(isGivenName)) return false;
  if (fields.flat().some((word) => trades.has(word))) return true;
  return [first, last].some((field, i) => {
    const words = fields[i] ?? [];
    if (words.length < 2 || !shortForms.has(words.at(-1) ?? '')) return false;
    return isWrittenAsForm.test(field) || !words.some(isGivenName);
  });
}

/** In capitals behind other letters, or with dots or a slash. */
const isWrittenAsForm = /\p{Ll}.*\s(?:\p{Lu}{2,}|\p{L}(?:[./]\s?\p{L})+\.?)$/u;

/** Folded, with S.A., A/S, Sp. z o.o. and Booking.com as one word each. */
function wordsOf(field: string): string[] {
  const text = fold(field.slice(0, 100))
    .replace(/(?<!\p{L})(\p{L})[./]\s?(?=\p{L}(?!\p{L}))/gu, '$1')
    .replace(/\bsp\.? ?z ?oo\b/, 'spzoo')
    .replace('booking.com', 'bookingcom');
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}
