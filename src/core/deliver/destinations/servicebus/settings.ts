import { z } from 'zod';
import { httpUrl, secretText, sizeText } from '../../../documents/scalars.ts';
import { parseSize } from '../../../documents/units.ts';

export const settingsSchema = z
  .strictObject({
    namespace: z
      .string()
      .regex(/^[a-z][a-z0-9-]{4,48}[a-z0-9]$/i, { error: 'must be the name of a namespace, without its domain' })
      .describe('The namespace: NAME of NAME.servicebus.windows.net.'),
    entity: z
      .string()
      .regex(/^[\w.-]+(?:\/[\w.-]+)*$/, { error: 'must be the name of a queue or topic' })
      .describe('The queue or topic; it must exist.'),
    key_name: z.string().min(1).describe('The name of the shared access policy.'),
    key: secretText().describe('The key of the policy.'),
    endpoint: httpUrl().optional().describe('The address of the namespace, for a private link; by default its own.'),
    max_message: sizeText('1KiB', '1MiB')
      .default('256KiB')
      .describe('The largest message: 256 KiB in the Standard tier, 1 MiB over HTTP in Premium.'),
  })
  .meta({ title: 'servicebus', description: 'A queue or topic of Azure Service Bus.' });

export type Settings = z.infer<typeof settingsSchema>;

export const mostBytes = ({ max_message }: Settings): number => parseSize(max_message) ?? 0;
