import { z } from 'zod';
import { httpUrl, secretText } from '../../../documents/scalars.ts';

/** Snowflake folds plain names to upper case; a name in double quotes is meant as it is. */
const name = (what: string) =>
  z
    .string()
    .regex(/^(?:[A-Za-z_][\w$]*|"[^"'\\]+")$/, { error: 'must be a plain name, or an exact one in double quotes' })
    .describe(what);

export const settingsSchema = z
  .strictObject({
    account: z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]*$/, { error: 'must be an account identifier such as MYORG-ACCOUNT1' })
      .describe('The account identifier, such as MYORG-ACCOUNT1 or xy12345.eu-central-1.'),
    user: name('A user of the type SERVICE with RSA_PUBLIC_KEY set.'),
    private_key: secretText().describe('The private key of the user in PEM (PKCS#8, without a passphrase).'),
    warehouse: name('The warehouse that runs the statements; auto_suspend = 60 keeps it cheap.'),
    database: name('The database.'),
    schema: name('The schema of our tables; it is created if it does not exist.').default('INNBOUND'),
    role: name('The role of the user with the grants that prepare prints.').optional(),
    endpoint: httpUrl()
      .optional()
      .describe('The address of a private link or a proxy; by default that of the account.'),
  })
  .meta({ title: 'snowflake', description: 'Tables in Snowflake.' });

export type Settings = z.infer<typeof settingsSchema>;

/** As Snowflake stores it. */
export const stored = (text: string): string => (text.startsWith('"') ? text.slice(1, -1) : text.toUpperCase());
