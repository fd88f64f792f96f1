import { z } from 'zod';
import { awsShape } from '../../bus/settings.ts';

export const settingsSchema = z
  .strictObject({
    bus: z.string().min(1).max(256).default('default').describe('The event bus, by its name or ARN.'),
    ...awsShape,
  })
  .meta({ title: 'eventbridge', description: 'A bus of Amazon EventBridge, which keeps no order.' });

export type Settings = z.infer<typeof settingsSchema>;
