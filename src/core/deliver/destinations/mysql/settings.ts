import { z } from 'zod';
import { caText, placeText } from '../../warehouse/settings.ts';

export const settingsSchema = z
  .strictObject({
    url: placeText('mysql://user:password@host:3306/database', 'mysql', 'mariadb'),
    ca: caText(),
  })
  .meta({ title: 'mysql', description: 'Tables in MySQL 8 or MariaDB 10.6 and later.' });

export type Settings = z.infer<typeof settingsSchema>;
