/** A kept sample whose records would change. Without values, which are guest data. */
export interface BrokenCase {
  readonly name: string;
  /** Why it cannot be mapped at all; accepting does not help then. */
  readonly message: string | null;
  readonly differences: number;
}

/** Which cases change, for people. */
export function casesText(cases: readonly BrokenCase[]): string {
  const names = cases.map(({ name, message }) => (message === null ? name : `${name} (${message})`)).join(', ');
  return `${cases.length} kept ${cases.length === 1 ? 'case changes' : 'cases change'}: ${names}`;
}
