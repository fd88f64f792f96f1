/** Writes docs/partners/rules.md from the rules of the check; test/packages/partner-kit/docs.test.ts says when to run it. */
import { writeFileSync } from 'node:fs';
import { apiRules } from '../packages/partner-kit/src/check/api.ts';
import { senderRules } from '../packages/partner-kit/src/check/sender/check.ts';

export const rulesFile = new URL('../docs/partners/rules.md', import.meta.url);

type Rule = { readonly id: string; readonly level: string; readonly title: string };

const table = (rules: readonly Rule[]) =>
  ['| rule | | |', '|---|---|---|', ...rules.map(({ id, level, title }) => `| \`${id}\` | ${level} | ${title} |`)].join(
    '\n',
  );

export const rulesText = () =>
  `${[
    '<!-- Written by scripts/check-rules.ts from the rules; edits are lost. -->',
    '# The rules of the check',
    'What [the check](check.md) tests. A broken *must* loses data; a broken *should* is something that we can work around.',
    '## Your API',
    table(apiRules),
    '## Your sender',
    table(senderRules),
  ].join('\n\n')}\n`;

if (import.meta.main) writeFileSync(rulesFile, rulesText());
