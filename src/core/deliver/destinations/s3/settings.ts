import { z } from 'zod';
import { httpUrl } from '../../../documents/scalars.ts';
import { awsShape } from '../../bus/settings.ts';
import { lakeShape } from '../../lake/settings.ts';

export const settingsSchema = z
  .strictObject({
    bucket: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { error: 'must be the name of a bucket' })
      .describe('The bucket; it must exist.'),
    prefix: z
      .string()
      .regex(/^(?:[\w=.-]+\/)*[\w=.-]+$/, { error: 'must be folders such as hotels/changes, without / at the ends' })
      .optional()
      .describe('The folder in the bucket; by default its root.'),
    region: z.string().min(1).default('us-east-1').describe('The region of the bucket.'),
    endpoint: httpUrl().optional().describe('The address of another S3-compatible service; by default Amazon S3.'),
    addressing: z
      .enum(['virtual_host', 'path'])
      .default('virtual_host')
      .describe(
        '`virtual_host`: the bucket is part of the host name. `path`: it is the first part of the path, as MinIO expects.',
      ),
    credentials: awsShape.credentials,
    encryption: z
      .strictObject({
        type: z.enum(['AES256', 'aws:kms']).describe('Keys of S3, or of the Key Management Service.'),
        key_id: z
          .string()
          .min(1)
          .optional()
          .describe('The key of the Key Management Service; by default the bucket’s.'),
      })
      .optional()
      .describe('Server-side encryption of each object; by default as set for the bucket.'),
    ...lakeShape,
    file_size: lakeShape.file_size
      .unwrap()
      .default('8MiB')
      .describe('When an object has reached this size, the next one is started.'),
  })
  .meta({ title: 's3', description: 'Objects in a bucket, partitioned by date and brand, for any analytic engine.' });

export type Settings = z.infer<typeof settingsSchema>;
