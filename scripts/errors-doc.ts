/** Writes docs/errors.md from the registry; test/errors.test.ts compares the two. */
import { writeFileSync } from 'node:fs';
import type { ErrorEntry, RetryClass } from '../src/errors/entry.ts';
import { errors } from '../src/errors.ts';

/** What codes begin with. */
export const stages: Readonly<Record<string, string>> = {
  documents: 'Documents: what is wrong in a workspace',
  pull: 'Pull: polling a partner’s API',
  push: 'Push: receiving a partner’s events',
  record: 'Records: from the partner’s data to the canonical record',
  deliver: 'Deliver: sending changes to destinations',
  store: 'Store: PostgreSQL',
  operate: 'Operate: commands and HTTP',
};

const retries: Record<RetryClass, string> = {
  again: 'retried automatically',
  sender: 'the sender retries',
  operator: 'needs a person',
  final: 'not retried',
};

export function errorsDoc(): string {
  const entries = Object.entries(errors) as [string, ErrorEntry][];
  const parts = Object.entries(stages).map(([stage, title]) => {
    const rows = entries
      .filter(([code]) => code.startsWith(`${stage}.`))
      .map(
        ([code, { what, next, retry = 'operator' }]) =>
          `### \`${code}\`\n${what} (${retries[retry]})\n\nNext: ${next}\n`,
      );
    return `## ${title}\n\n${rows.join('\n')}`;
  });
  return `<!-- Written by scripts/errors-doc.ts from the registry; edits are lost. -->

# Errors

Every error that a person can meet has a stable code: in problem documents, dead letters, runs, alerts, logs and on the command
line. Parentheses say who acts next.

${parts.join('\n')}`;
}

export const errorsFile = new URL('../docs/errors.md', import.meta.url);

if (import.meta.main) writeFileSync(errorsFile, errorsDoc());
