import { z } from 'zod';
import { httpUrl, secretText } from '../../../documents/scalars.ts';

export const settingsSchema = z
  .strictObject({
    project: z
      .string()
      .regex(/^[a-z][a-z0-9.:-]{4,61}[a-z0-9]$/, { error: 'must be the id of a project' })
      .describe('The id of the project.'),
    topic: z
      .string()
      .regex(/^[A-Za-z][\w.~+%-]{2,254}$/, { error: 'must be the name of a topic' })
      .describe('The topic; it must exist.'),
    credentials: secretText().describe(
      'The text of the service account’s JSON key file, as a reference to a file or a secret.',
    ),
    endpoint: httpUrl()
      .optional()
      .describe(
        'A regional address such as https://europe-west1-pubsub.googleapis.com: order holds within one region.',
      ),
  })
  .meta({ title: 'pubsub', description: 'A topic of Google Cloud Pub/Sub.' });

export type Settings = z.infer<typeof settingsSchema>;
