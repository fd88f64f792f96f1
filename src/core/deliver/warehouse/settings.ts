import { z } from 'zod';
import { checkedText } from '../../documents/checked.ts';
import { secretText } from '../../documents/scalars.ts';
import { hasReference } from '../../documents/secret-reference.ts';

/** A URL with user, password and database. */
export const placeText = (example: string, ...schemes: readonly string[]) =>
  checkedText('a URL', (text) => {
    if (hasReference(text)) return undefined;
    const url = URL.parse(text);
    const isRight = url !== null && schemes.includes(url.protocol.slice(0, -1)) && /^\/[^/]+\/?$/.test(url.pathname);
    return isRight ? undefined : { message: `must be a URL with a database, such as ${example}` };
  })
    .meta({ writeOnly: true, credential: 'url' })
    .describe(`${example}, preferably as a reference to a secret. User, password and database are percent-decoded.`);

/** The name of a schema or database of ours, which goes into statements: written out, so that no secret can be more than a name. */
export const plainName = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z_][\w$]{0,127}$/, { error: 'must be letters, digits and _' })
    .describe(what);

/** Certificates of a private authority. */
export const caText = () =>
  secretText()
    .optional()
    .describe('Certificate authorities of the server in PEM, as a reference to a file; by default the public ones.');
