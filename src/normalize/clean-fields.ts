import { hasCardToken } from '../canonical/replaced-card.ts';
import { sexedTitle } from '../persons/not-names.ts';
import type { Cleaning } from './cleaning.ts';
import { readEmail } from './email.ts';
import { memo } from './memo.ts';
import { readNames } from './name.ts';
import type { NameRegions } from './name-rules.ts';
import { type PhoneBasis, readPhone } from './phone.ts';
import { saysNothing } from './text.ts';

/** The rules of a guest's fields, each applied to the guest while it is cleaned. */

/** Zeros, also as a GUID, -1, a flag. Each would match many guests as one person. */
const noId = /^(?:[0-]+|-1|true|false)$/i;

export function cleanId(cleaning: Cleaning): void {
  const given = cleaning.guest.guest_id;
  if (given === undefined || !(noId.test(given) || saysNothing(given) || hasCardToken.test(given))) return;
  cleaning.guest.guest_id = undefined;
  cleaning.note('guest_id', 'guest_id_placeholder', { before: given });
}

export function cleanNationality(cleaning: Cleaning): void {
  const given = cleaning.guest.nationality;
  if (given === undefined || (given.length === 2 && capitals.test(given))) return;
  const upper = given.trim().toUpperCase();
  if (!capitals.test(upper)) return;
  cleaning.guest.nationality = upper;
  cleaning.note('nationality', 'nationality_case', { before: given, after: upper });
}
const capitals = /^[A-Z]{2}$/;

/** Reading names and numbers is most of the work, and each change of a booking brings the same ones again. */
const mostKnown = 5_000;
const knownNames = memo<ReturnType<typeof readNames>>(mostKnown);
const knownPhones = memo<ReturnType<typeof readPhone>>(mostKnown);

export function cleanNames(cleaning: Cleaning, regions: NameRegions): void {
  const { first_name, last_name } = cleaning.guest;
  if (first_name === undefined && last_name === undefined) return;
  const key = JSON.stringify([first_name, last_name, regions]);
  const { names, changes } = knownNames(key, () => readNames({ first_name, last_name }, regions));
  if (changes.length === 0) return;
  cleaning.guest.first_name = names.first_name;
  cleaning.guest.last_name = names.last_name;
  for (const { field, rule, before, after } of changes) cleaning.note(field, rule, { before, after });
  const isUntitled = changes.some(({ rule }) => rule === 'name_title_removed');
  if (!isUntitled || names.first_name !== undefined || names.last_name === undefined) return;
  const { title = '' } = sexedTitle(`${first_name ?? ''} ${last_name ?? ''}`) ?? {};
  if (title !== '') cleaning.guest.title = `${title.slice(0, 1).toUpperCase()}${title.slice(1).toLowerCase()}`;
}

export function cleanEmail(cleaning: Cleaning): void {
  const given = cleaning.guest.email;
  if (given === undefined) return;
  const reading = readEmail(given);
  if (reading.kind === 'address') {
    if (reading.address !== given) {
      cleaning.guest.email = reading.address;
      const code = reading.several ? 'email_first_of_several' : 'email_tidied';
      cleaning.note('email', code, { before: given, after: reading.address });
    }
    if (reading.proxy && cleaning.guest.email_proxy !== true) {
      cleaning.guest.email_proxy = true;
      cleaning.note('email_proxy', 'email_proxy', { after: true });
    }
    return;
  }
  cleaning.guest.email = undefined;
  cleaning.guest.email_proxy = undefined;
  if (reading.kind === 'nothing') cleaning.note('email', 'email_placeholder', { before: given });
  else {
    cleaning.guest.email_raw = given;
    cleaning.note('email', reading.why === 'made_up' ? 'email_made_up' : 'email_invalid', { before: given });
  }
}

export function cleanPhone(cleaning: Cleaning, regions: NameRegions): void {
  const given = cleaning.guest.phone;
  if (given === undefined) return;
  const reading = knownPhones(JSON.stringify([given, regions]), () => readPhone(given, regions));
  if (reading.kind === 'number') {
    const { e164, by, several, extension } = reading;
    if (e164 === given) return;
    cleaning.guest.phone = e164;
    if (several) cleaning.note('phone', 'phone_first_of_several', { before: given, after: e164 });
    else cleaning.note('phone', 'phone_to_e164', { before: given, after: e164, reason: readAs[by] });
    if (extension) cleaning.note('phone', 'phone_extension_removed', { before: given, after: e164 });
    return;
  }
  cleaning.guest.phone = undefined;
  if (reading.kind === 'nothing') cleaning.note('phone', 'phone_placeholder', { before: given });
  else {
    cleaning.guest.phone_raw = given;
    cleaning.note('phone', 'phone_impossible', { before: given });
  }
}

const readAs: Partial<Readonly<Record<PhoneBasis, string>>> = {
  nationality: 'Written in the international form E.164, read as a number of the guest’s nationality.',
  country: 'Written in the international form E.164, read as a number of the property’s country.',
  code: 'Written in the international form E.164; its digits begin with a country code.',
};
