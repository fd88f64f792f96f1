import { z } from 'zod';
import { awsShape } from '../../bus/settings.ts';

export const settingsSchema = z
  .strictObject({
    topic_arn: z
      .string()
      .regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+(?:\.fifo)?$/, { error: 'must be the ARN of a topic' })
      .describe('The topic. Only one whose name ends in `.fifo` keeps the order of a record.'),
    ...awsShape,
  })
  .meta({ title: 'sns', description: 'A topic of Amazon SNS.' });

export type Settings = z.infer<typeof settingsSchema>;
