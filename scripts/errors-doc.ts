/** Writes docs/errors.md from the registry; test/errors.test.ts holds the two together. */
import { writeFileSync } from 'node:fs';
import type { ErrorEntry, RetryClass, Stage } from '../src/errors/entry.ts';
import { errors } from '../src/errors.ts';

const stages: Record<Stage, string> = {
  documents: 'Documents: what is wrong in a workspace',
  pull: 'Pull: asking a partner’s API',
  push: 'Push: taking a partner’s events',
  record: 'Records: from the partner’s data to the canonical record',
  deliver: 'Deliver: handing changes to destinations',
  store: 'Store: PostgreSQL',
  operate: 'Operate: commands and HTTP',
};

const retries: Record<RetryClass, string> = {
  again: 'tried again by itself',
  sender: 'the sender tries again',
  operator: 'waits for a person',
  final: 'stays as it is',
};

export function errorsDoc(): string {
  const entries = Object.entries(errors) as [string, ErrorEntry][];
  const parts = (Object.keys(stages) as Stage[]).map((stage) => {
    const rows = entries
      .filter(([, entry]) => entry.stage === stage)
      .map(([code, { what, next, retry }]) => `### \`${code}\`\n${what} (${retries[retry]})\n\nNext: ${next}\n`);
    return `## ${stages[stage]}\n\n${rows.join('\n')}`;
  });
  return `# Errors

Every error that a person can meet has a code that does not change: in problem documents, dead letters, runs, alerts, logs and
on the command line. In parentheses: what happens without anyone doing anything.

${parts.join('\n')}`;
}

export const errorsFile = new URL('../docs/errors.md', import.meta.url);

if (import.meta.main) writeFileSync(errorsFile, errorsDoc());
