import { z } from 'zod';
import { awsShape } from '../../bus/settings.ts';

export const settingsSchema = z
  .strictObject({
    queue_url: z
      .string()
      .regex(/^https?:\/\/[^\s/]+\/\d+\/[\w-]{1,80}(?:\.fifo)?$/, { error: 'must be the URL of a queue' })
      .describe('The URL of the queue. Only one whose name ends in `.fifo` keeps the order of a record.'),
    ...awsShape,
  })
  .meta({ title: 'sqs', description: 'A queue of Amazon SQS.' });

export type Settings = z.infer<typeof settingsSchema>;
