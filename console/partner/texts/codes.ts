/**
 * The service's sentences in the page's language, by code: errors and notes, the rules of the check (title, what to change), the forms of
 * credentials (label, description). In English they come from the service where that does not speak of the partner; test/onboard/texts.test.ts holds the languages together.
 */
export interface Codes {
  readonly sentences: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, readonly [title: string, change: string]>>;
  readonly auth: Readonly<Record<string, readonly [label: string, description: string]>>;
}
