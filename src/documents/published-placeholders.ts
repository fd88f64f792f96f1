import type { DocumentKind } from './kinds.ts';
import {
  relatedPlaceholders,
  requestPlaceholders,
  signedHeaderPlaceholders,
  singlePlaceholders,
} from './placeholders.ts';

function table(title: string, placeholders: Readonly<Record<string, string>>): string {
  const rows = Object.entries(placeholders).map(([name, meaning]) => `| \`{${name}}\` | ${meaning} |`);
  return [`## ${title}`, '', '| placeholder | stands for |', '|---|---|', ...rows].join('\n');
}

const secrets = `## Secrets

Any text may refer to a secret, or to anything else that differs from machine to machine. It is read when it is used, and never
written in the clear into the store or a log.

| reference | stands for |
|---|---|
| \`\${env:NAME}\` | the environment variable |
| \`\${file:/run/secrets/name}\` | the content of the file, without its last line break; a relative path is under the workspace |
| \`\${secret:name}\` | the secret stored with \`innbound secret set name\`, encrypted at rest |`;

/** What the pages say after the keys. */
export const placeholderTables: { readonly [Kind in DocumentKind]?: readonly string[] } = {
  connector: [
    table('Placeholders of `pull.request`', requestPlaceholders),
    table('Placeholders of `pull.single`', singlePlaceholders),
    table('Placeholders of `pull.related`', relatedPlaceholders),
  ],
  integration: [table('Placeholders of `auth` with type `hmac`', signedHeaderPlaceholders), secrets],
  destination: [secrets],
};
