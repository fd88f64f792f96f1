import { z } from 'zod';
import { checkedText } from '../../../documents/checked.ts';
import { durationText } from '../../../documents/scalars.ts';
import { hasReference } from '../../../documents/secret-reference.ts';
import { durationMs } from '../../../documents/units.ts';

/** A Unix socket is postgres://user@/database?host=/folder, without a host, which a URL parser refuses. */
const postgresUrl = () =>
  checkedText('a URL of PostgreSQL', (text) => {
    if (hasReference(text) || /^postgres(ql)?:\/\/\S+$/.test(text)) return undefined;
    return { message: 'must be an absolute URL that starts with postgres:// or postgresql://' };
  });

export const settingsSchema = z
  .strictObject({
    url: postgresUrl()
      .meta({ writeOnly: true })
      .describe('The warehouse: postgres://user:password@host/database, preferably as a reference to a secret.'),
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,62}$/, { error: 'must be a plain lower-case name of PostgreSQL' })
      .default('innbound')
      .describe('The schema of our tables; it is created if it does not exist.'),
    timeout: durationText('1s', '10m').default('60s').describe('How long one batch may take.'),
  })
  .meta({ title: 'postgres', description: 'A warehouse with tables for reservations, guests, rooms and charges.' });

export type Settings = z.infer<typeof settingsSchema>;

export const timeoutMs = (settings: Settings): number => durationMs(settings.timeout);
