/**
 * Replaces control and direction characters, except line breaks and tabs, by their escapes. Ids and messages come from partners:
 * a terminal would obey the escape sequences in them.
 */
export function printable(text: string): string {
  return text.replace(forbidden, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it replaces control characters
const forbidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
