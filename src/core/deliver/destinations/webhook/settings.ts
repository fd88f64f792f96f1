import { z } from 'zod';
import { checkedText } from '../../../documents/checked.ts';
import { plainHeaders } from '../../../documents/credential.ts';
import { durationText, headerName, httpUrl } from '../../../documents/scalars.ts';
import { hasReference } from '../../../documents/secret-reference.ts';
import { durationMs } from '../../../documents/units.ts';

/** Standard Webhooks: `whsec_` and base64 of 24 to 64 bytes. */
const signingSecret = () =>
  checkedText('a secret of Standard Webhooks', (text) => {
    if (hasReference(text)) return undefined;
    const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
    const bytes = base64 === undefined ? 0 : Buffer.from(base64, 'base64').length;
    if (bytes >= 24 && bytes <= 64) return undefined;
    return { message: 'must be whsec_ and the base64 of 24 to 64 bytes, preferably as a reference' };
  }).meta({ writeOnly: true });

export const settingsSchema = z
  .strictObject({
    url: httpUrl().describe('Where events are sent.'),
    secret: signingSecret().describe('The signing secret of Standard Webhooks: `whsec_` and base64.'),
    old_secret: signingSecret()
      .optional()
      .describe('The previous secret; while it is set, every event carries both signatures.'),
    headers: z
      .record(headerName(), z.string().meta({ credential: { except: plainHeaders } }))
      .default({})
      .describe('Further headers.'),
    timeout: durationText('1s', '5m').default('30s').describe('How long an answer may take.'),
  })
  .meta({ title: 'webhook', description: 'Signed onward events (Standard Webhooks).' });

export type Settings = z.infer<typeof settingsSchema>;

export const timeoutMs = (settings: Settings): number => durationMs(settings.timeout);
