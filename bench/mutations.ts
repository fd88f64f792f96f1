import { findMutation, mutations } from '../test/history/mutations/mutate.ts';

/** `mutations [NAME...]` plants each bug in a copy of the program and shows which broken promise the checker reports. */
export async function run(names: readonly string[]): Promise<void> {
  const wanted = mutations.filter(({ name }) => names.length === 0 || names.includes(name));
  let found = 0;
  for (const judge of names.length === 0 ? ['simulation', 'store'] : []) {
    const violation = await findMutation(undefined, judge);
    if (violation) throw new Error(`the program itself breaks a promise: ${violation.rule}: ${violation.message}`);
  }
  for (const mutation of wanted) {
    const violation = await findMutation(mutation, mutation.judge);
    if (violation) found += 1;
    console.log(`${mutation.name}: ${violation ? `${violation.rule}: ${violation.message}` : 'NOT FOUND'}`);
  }
  console.log(`${found} of ${wanted.length} found`);
  process.exitCode = found === wanted.length ? 0 : 1;
}
