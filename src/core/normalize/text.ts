/** Invisible characters from copy and paste: soft hyphens, zero-width spaces, direction marks. */
const invisible = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;
const control = /[\p{Cc}\p{Zl}\p{Zp}\ufffd]+/gu;
const plain = /^[\x20-\x7e]*$/;

/** Removes invisible characters and turns control characters into spaces. Each field handles spaces itself. */
export function visible(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(invisible, '').replace(control, ' ');
}

const nothing = new Set([
  'n/a',
  'n.a.',
  'n.a',
  'na',
  'nil',
  'none',
  'null',
  'undefined',
  'unknown',
  'no',
  'not available',
  'not provided',
  'not given',
  'not known',
  'tba',
  'tbc',
  'tbd',
  'keine',
  'ninguno',
  'sin datos',
  'inconnu',
  'unbekannt',
  'desconocido',
  'desconhecido',
  'sconosciuto',
]);

const longestNothing = Math.max(...[...nothing].map((word) => word.length));

/** True for placeholder words, and for text without any letter or digit. */
export function saysNothing(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text) || (text.length <= longestNothing && nothing.has(text.toLowerCase()));
}
