import { z } from 'zod';
import { checkedText } from '../../../documents/checked.ts';
import { secretText } from '../../../documents/scalars.ts';
import { hasReference } from '../../../documents/secret-reference.ts';
import { plainName } from '../../warehouse/settings.ts';

export const settingsSchema = z
  .strictObject({
    token: secretText().describe('An access token of MotherDuck that may read and write.'),
    database: plainName('The database; it is created if it does not exist.'),
    schema: plainName('The schema of our tables; it is created if it does not exist.').default('innbound'),
    region: z
      .string()
      .regex(/^[a-z]{2}-[a-z]+-\d$/, { error: 'must be a region such as us-east-1' })
      .default('us-east-1')
      .describe('The region of the organization.'),
    endpoint: checkedText('a host and port', (text) =>
      hasReference(text) || URL.parse(placeOfEndpoint(text)) !== null
        ? undefined
        : { message: 'must be a host and port such as duck.example:5432' },
    )
      .optional()
      .describe('Host and port of a private link or a proxy; by default the PostgreSQL endpoint of MotherDuck.'),
  })
  .meta({ title: 'motherduck', description: 'Tables in MotherDuck.' });

export type Settings = z.infer<typeof settingsSchema>;

export const placeOfEndpoint = (text: string): string => (text.includes('://') ? text : `postgres://${text}`);
