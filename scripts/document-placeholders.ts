import type { DocumentKind } from '../src/core/documents/kinds.ts';
import {
  acknowledgePlaceholders,
  relatedPlaceholders,
  requestPlaceholders,
  signedHeaderPlaceholders,
  singlePlaceholders,
  streamPlaceholders,
  webhookSignPlaceholders,
} from '../src/core/documents/placeholders.ts';

function table(title: string, placeholders: Readonly<Record<string, string>>): string {
  const rows = Object.entries(placeholders).map(([name, meaning]) => `| \`{${name}}\` | ${meaning} |`);
  return [`## ${title}`, '', '| placeholder | value |', '|---|---|', ...rows].join('\n');
}

const secrets = `## Secrets

Any text may refer to a secret, or to anything else that differs from machine to machine. A reference is read when it is used.

| reference | value |
|---|---|
| \`\${env:NAME}\` | the environment variable |
| \`\${file:/run/secrets/name}\` | the content of the file, without its last line break; a relative path is under the workspace |
| \`\${secret:name}\` | the secret stored with \`innbound secret set name\`, encrypted at rest |

Files are read from the workspace (never from \`.innbound\`), from \`/run/secrets\`, \`/var/run/secrets\` and \`$CREDENTIALS_DIRECTORY\`, and
from the folders that the environment variable \`INNBOUND_SECRET_FOLDERS\` names, separated as in \`PATH\`.

References to variables and files can only be added with \`innbound apply\`, by somebody with access to the machine. Through the API and
the console a document keeps those it has, and new credentials are stored secrets.

A credential that is typed into a document is moved to the stored secrets when the document is applied; the stored document keeps a
reference to it (\`\${secret:typed_…}\`).`;

/** What the pages say after the keys. */
export const placeholderTables: { readonly [Kind in DocumentKind]?: readonly string[] } = {
  connector: [
    table('Placeholders of `pull.request`', requestPlaceholders),
    table('Placeholders of `pull.single`', singlePlaceholders),
    table('Placeholders of `pull.related`', relatedPlaceholders),
    table('Placeholders of `pull.acknowledge`', acknowledgePlaceholders),
    table('Placeholders of `push.verification.sign`', webhookSignPlaceholders),
    table('Placeholders of `stream`', streamPlaceholders),
  ],
  integration: [table('Placeholders of `auth` with type `hmac`', signedHeaderPlaceholders), secrets],
  destination: [secrets],
};
