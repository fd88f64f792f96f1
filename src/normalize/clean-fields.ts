import { hasCardToken } from '../canonical/replaced-card.ts';
import type { Cleaning } from './cleaning.ts';
import { readEmail } from './email.ts';
import { readNames } from './name.ts';
import type { NameRegions, NameRule } from './name-rules.ts';
import { type PhoneBasis, readPhone } from './phone.ts';
import { saysNothing } from './text.ts';

/** The rules of a guest's fields, each applied to the guest while it is cleaned. */

/** Zeros, also as a GUID, -1, a flag. Each would match many guests as one person. */
const noId = /^(?:[0-]+|-1|true|false)$/i;

export function cleanId(cleaning: Cleaning): void {
  const given = cleaning.guest.guest_id;
  if (given === undefined || !(noId.test(given) || saysNothing(given) || hasCardToken.test(given))) return;
  cleaning.guest.guest_id = undefined;
  cleaning.note('guest_id', 'guest_id_placeholder', 'The text is a placeholder, not an id.', given, undefined);
}

export function cleanNationality(cleaning: Cleaning): void {
  const given = cleaning.guest.nationality;
  if (given === undefined || (given.length === 2 && capitals.test(given))) return;
  const upper = given.trim().toUpperCase();
  if (!capitals.test(upper)) return;
  cleaning.guest.nationality = upper;
  cleaning.note('nationality', 'nationality_case', 'Country codes are written in capitals.', given, upper);
}
const capitals = /^[A-Z]{2}$/;

const nameReasons: Readonly<Record<NameRule, string>> = {
  name_tidied: 'Spaces, invisible characters and stray punctuation were cleaned up.',
  name_placeholder: 'The text is a placeholder, not a name.',
  name_split: 'Family name and given name were in one field.',
  name_title_removed: 'A title is not part of the name.',
  name_first_of_two: 'The field named two people; the first is kept.',
  name_case: 'The name was all upper case or all lower case.',
};

export function cleanNames(cleaning: Cleaning, regions: NameRegions): void {
  const { first_name, last_name } = cleaning.guest;
  if (first_name === undefined && last_name === undefined) return;
  const { names, changes } = readNames({ first_name, last_name }, regions);
  if (changes.length === 0) return;
  cleaning.guest.first_name = names.first_name;
  cleaning.guest.last_name = names.last_name;
  for (const { field, rule, before, after } of changes) cleaning.note(field, rule, nameReasons[rule], before, after);
}

export function cleanEmail(cleaning: Cleaning): void {
  const given = cleaning.guest.email;
  if (given === undefined) return;
  const reading = readEmail(given);
  if (reading.kind === 'address') {
    if (reading.address !== given) {
      cleaning.guest.email = reading.address;
      if (reading.several)
        cleaning.note(
          'email',
          'email_first_of_several',
          'The field held several addresses; the first valid one is kept.',
          given,
          reading.address,
        );
      else cleaning.note('email', 'email_tidied', 'The address was trimmed and lower-cased.', given, reading.address);
    }
    if (reading.proxy && cleaning.guest.email_proxy !== true) {
      cleaning.guest.email_proxy = true;
      cleaning.note(
        'email_proxy',
        'email_proxy',
        'The address is an alias created by a booking site: it is never used to match guests.',
        undefined,
        true,
      );
    }
    return;
  }
  cleaning.guest.email = undefined;
  cleaning.guest.email_proxy = undefined;
  if (reading.kind === 'nothing') {
    cleaning.note('email', 'email_placeholder', 'The text is a placeholder, not an address.', given, undefined);
    return;
  }
  cleaning.guest.email_raw = given;
  if (reading.why === 'made_up')
    cleaning.note(
      'email',
      'email_made_up',
      'The address is a dummy typed to fill the field; it is kept as email_raw.',
      given,
      undefined,
    );
  else
    cleaning.note(
      'email',
      'email_invalid',
      'The text is not a valid address; it is kept as email_raw.',
      given,
      undefined,
    );
}

const phoneReasons: Readonly<Record<PhoneBasis, string>> = {
  international: 'Written in the international form E.164.',
  nationality: 'Written in the international form E.164, read as a number of the guest’s nationality.',
  country: 'Written in the international form E.164, read as a number of the property’s country.',
  code: 'Written in the international form E.164; its digits begin with a country code.',
};

export function cleanPhone(cleaning: Cleaning, regions: NameRegions): void {
  const given = cleaning.guest.phone;
  if (given === undefined) return;
  const reading = readPhone(given, regions);
  if (reading.kind === 'number') {
    if (reading.e164 === given) return;
    cleaning.guest.phone = reading.e164;
    if (reading.several)
      cleaning.note(
        'phone',
        'phone_first_of_several',
        'The field held several numbers; the first possible one is kept.',
        given,
        reading.e164,
      );
    else cleaning.note('phone', 'phone_to_e164', phoneReasons[reading.by], given, reading.e164);
    if (reading.extension)
      cleaning.note(
        'phone',
        'phone_extension_removed',
        'E.164 has no extensions; the extension was removed.',
        given,
        reading.e164,
      );
    return;
  }
  cleaning.guest.phone = undefined;
  if (reading.kind === 'nothing') {
    cleaning.note('phone', 'phone_placeholder', 'The text is a placeholder, not a number.', given, undefined);
    return;
  }
  cleaning.guest.phone_raw = given;
  cleaning.note(
    'phone',
    'phone_impossible',
    'The number is not valid in any numbering plan; it is kept as phone_raw.',
    given,
    undefined,
  );
}
