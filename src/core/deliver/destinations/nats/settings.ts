import { z } from 'zod';
import { secretText } from '../../../documents/scalars.ts';
import { tlsSetting } from '../../bus/settings.ts';

const serverForm = /^(?:(?:nats|tls):\/\/)?(?:\[[0-9a-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/;

export const settingsSchema = z
  .strictObject({
    servers: z
      .array(z.string().regex(serverForm, { error: 'must be HOST:PORT, nats://HOST:PORT or tls://HOST:PORT' }))
      .min(1)
      .describe('Servers, each HOST:PORT; `tls://` demands TLS.'),
    subject: z
      .string()
      .regex(/^[^\s.*>]+(?:\.[^\s.*>]+)*$/, { error: 'must be a subject without wildcards' })
      .describe(
        'What the subjects begin with; the one of a record is SUBJECT.INTEGRATION.TYPE.ID. A stream must take them.',
      ),
    tls: tlsSetting()
      .optional()
      .describe('TLS, with certificates of your own or as it is; by default if the server offers it.'),
    credentials: z
      .union([
        z.strictObject({ token: secretText().describe('A token.') }),
        z.strictObject({
          user: z.string().min(1).describe('The user.'),
          password: secretText().describe('The password.'),
        }),
        z.strictObject({
          file: z
            .string()
            .min(1)
            .meta({ folder: true })
            .describe('A credentials file (JWT and key), in the workspace or absolute.'),
        }),
      ])
      .optional()
      .describe('The login; by default none.'),
  })
  .meta({ title: 'nats', description: 'A stream of NATS JetStream.' });

export type Settings = z.infer<typeof settingsSchema>;
