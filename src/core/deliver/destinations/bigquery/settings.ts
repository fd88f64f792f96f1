import { z } from 'zod';
import { httpUrl, secretText } from '../../../documents/scalars.ts';
import { plainName } from '../../warehouse/settings.ts';

export const settingsSchema = z
  .strictObject({
    project: z
      .string()
      .regex(/^(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{4,61}$/, { error: 'must be the id of a project, such as my-hotels' })
      .describe('The project that holds the dataset and pays for the queries.'),
    dataset: plainName('The dataset of our tables; prepare creates it if the account may.').default('innbound'),
    location: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, { error: 'must be a location such as EU or europe-west1' })
      .default('EU')
      .describe('The location of the dataset, such as EU or europe-west1.'),
    credentials: secretText().describe('The JSON key file of a service account, as a reference to a file or a secret.'),
    maximum_bytes_billed: z
      .int()
      .min(10_485_760)
      .optional()
      .describe('A statement that would read more bytes fails without a charge; by default no limit.'),
    endpoint: httpUrl()
      .optional()
      .describe('The address of a private link or a proxy; by default https://bigquery.googleapis.com.'),
  })
  .meta({ title: 'bigquery', description: 'Tables in a dataset of BigQuery.' });

export type Settings = z.infer<typeof settingsSchema>;
