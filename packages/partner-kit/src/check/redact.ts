import { type Json, parseJson } from '../json.ts';

/**
 * Reports are sent by e-mail, so they show the form of a value, not the value. Values of the fields named here are
 * shown. Of all others only the form is: letters become a or A, digits 9, so that 31/12/1990 still differs from 1990-12-31.
 */
const shown = new Set(
  `id reservation_id confirmation_number check_in check_out booking_date status currency channel source room_type board
  board_type rate_code start_date end_date adults children code quantity total page page_size event event_id brand_id
  timestamp error error_description token_type expires_in marketing_consent`.split(/\s+/),
);

export function formOf(text: string): string {
  return text
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{L}/gu, (letter) => (letter === 'A' ? 'A' : 'a'))
    .replace(/\p{N}/gu, '9');
}

function redact(value: Json, key = '', depth = 0): Json {
  if (Array.isArray(value)) {
    const first = value.slice(0, 2).map((item) => redact(item, key, depth + 1));
    return value.length > 2 ? [...first, `… ${value.length - 2} more`] : first;
  }
  if (typeof value === 'object' && value !== null) {
    if (depth > 6) return '…';
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, 40)
        .map(([name, inner]) => [formKey(name), redact(inner, name, depth + 1)]),
    );
  }
  if (typeof value === 'string') return shown.has(key) ? value.slice(0, 60) : formOf(value.slice(0, 60));
  if (typeof value === 'number') return shown.has(key) ? value : Number(formOf(String(value)).replace(/[^\d.-]/g, ''));
  return value;
}

/** Keys are usually field names, but an object may be keyed by guest: keys unlike a field name are reduced to their form too. */
function formKey(key: string): string {
  return /^[A-Za-z_$@][\w$.-]{0,40}$/.test(key) ? key : formOf(key.slice(0, 40));
}

/** A response as the report shows it: at most about 1,500 characters. */
export function excerpt(body: string): string {
  const json = parseJson(body);
  return json === undefined ? formOf(body.slice(0, 200)) : JSON.stringify(redact(json), null, 1).slice(0, 1_500);
}

const secretHeaders = /authorization|key|token|secret|signature|cookie|password/i;

/** Credentials in headers are never shown; their scheme is. */
export function redactHeaders(
  headers: Readonly<Record<string, string>>,
  alsoSecret: ReadonlySet<string>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!secretHeaders.test(name) && !alsoSecret.has(name.toLowerCase())) return [name, value];
      const scheme = /^(Bearer|Basic|HMAC|sha\d+=)/i.exec(value)?.[0];
      return [name, scheme === undefined ? '…' : `${scheme} …`];
    }),
  );
}
