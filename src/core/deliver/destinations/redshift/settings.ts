import { z } from 'zod';
import { caText, placeText, plainName } from '../../warehouse/settings.ts';

export const settingsSchema = z
  .strictObject({
    url: placeText('redshift://user:password@host:5439/database', 'redshift', 'postgres', 'postgresql'),
    schema: plainName('The schema of our tables; it is created if it does not exist.').default('innbound'),
    ca: caText(),
  })
  .meta({ title: 'redshift', description: 'Tables in Amazon Redshift.' });

export type Settings = z.infer<typeof settingsSchema>;
