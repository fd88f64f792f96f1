import { z } from 'zod';
import { httpUrl } from '../../../documents/scalars.ts';
import { placeText } from '../../warehouse/settings.ts';

export const settingsSchema = z
  .strictObject({
    url: placeText('https://user:password@host:8443/database', 'https', 'http'),
    endpoint: httpUrl().optional().describe('The address of a private link or a proxy; by default the host of url.'),
  })
  .meta({ title: 'clickhouse', description: 'Tables in ClickHouse, over HTTP.' });

export type Settings = z.infer<typeof settingsSchema>;
