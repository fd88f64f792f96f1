/**
 * Replaces control and direction characters, except line breaks and tabs, by their escapes. Ids and messages come from partners:
 * a terminal would obey the escape sequences in them.
 */
export function printable(text: string): string {
  return text.replace(forbidden, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same for a text of our own with colours in it. A partner can at most change a colour. */
export function printableColoured(text: string): string {
  return text
    .split(colour)
    .map((part, i) => (i % 2 === 0 ? printable(part) : part))
    .join('');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it keeps these
const colour = /(\u001b\[[\d;]{0,8}m)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it replaces control characters
const forbidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
