import { z } from 'zod';
import { httpUrl } from '../../../documents/scalars.ts';
import { awsShape } from '../../bus/aws.ts';

export const settingsSchema = z
  .strictObject({
    bus: z.string().min(1).max(256).default('default').describe('The event bus, by its name or ARN.'),
    ...awsShape,
    endpoint: httpUrl()
      .optional()
      .describe('The address of the service, for a private link; by default the one of the region.'),
  })
  .meta({ title: 'eventbridge', description: 'A bus of Amazon EventBridge, which keeps no order.' });

export type Settings = z.infer<typeof settingsSchema>;
