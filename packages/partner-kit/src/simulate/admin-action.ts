import type { Json } from '../json.ts';
import { actionKinds, type ChangeAction } from './actions.ts';
import { isRealDate } from './query.ts';

const guestFields: Readonly<Record<string, string>> = {
  first_name: 'firstName',
  last_name: 'lastName',
  email: 'email',
  phone: 'phone',
  date_of_birth: 'dateOfBirth',
  nationality: 'nationality',
  document_type: 'documentType',
  document_number: 'documentNumber',
  marketing_consent: 'marketingConsent',
};

/** Reads a change requested through the page, or says what is wrong with it. */
export function readAction(body: { readonly [key: string]: Json }): ChangeAction | { readonly wrong: string } {
  const kind = actionKinds.find((one) => one === body.kind);
  if (kind === undefined) return { wrong: `kind must be one of ${actionKinds.join(', ')}.` };
  if (kind === 'move') {
    const { check_in: checkIn, check_out: checkOut } = body;
    if (typeof checkIn !== 'string' || typeof checkOut !== 'string' || !isRealDate(checkIn) || !isRealDate(checkOut)) {
      return { wrong: 'check_in and check_out must be dates.' };
    }
    return { kind, checkIn, checkOut };
  }
  if (kind === 'extend') {
    const nights = body.nights ?? 1;
    if (typeof nights !== 'number' || !Number.isInteger(nights) || Math.abs(nights) > 365)
      return { wrong: 'nights must be a whole number.' };
    return { kind, nights };
  }
  if (kind !== 'guest') return { kind };
  const profile = body.profile === true;
  const given = body.set;
  if (given === undefined) return { kind, profile };
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { wrong: 'set must be an object.' };
  const set: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(given)) {
    const own = Object.hasOwn(guestFields, name) ? guestFields[name] : undefined;
    const fits = name === 'marketing_consent' ? typeof value === 'boolean' : typeof value === 'string';
    if (own === undefined || !fits) return { wrong: `set.${name} is not a field of a guest, or has the wrong type.` };
    set[own] = value as string | boolean;
  }
  return { kind, profile, set };
}
