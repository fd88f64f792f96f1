import { z } from 'zod';
import { httpUrl, secretText } from '../../../documents/scalars.ts';

export const settingsSchema = z
  .strictObject({
    url: httpUrl().describe('Where events are sent.'),
    secret: secretText().describe('The signing secret of Standard Webhooks: `whsec_` and base64.'),
  })
  .meta({ title: 'webhook', description: 'Signed onward events (Standard Webhooks).' });

export type Settings = z.infer<typeof settingsSchema>;
