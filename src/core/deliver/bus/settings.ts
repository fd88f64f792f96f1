import { z } from 'zod';
import { httpUrl, machineIdentity, secretText } from '../../documents/scalars.ts';

/** TLS of a connection that is not HTTP. */
export const tlsSetting = () =>
  z.union([
    z.boolean(),
    z.strictObject({
      ca: z.string().min(1).optional().describe('Certificate authorities in PEM, instead of the usual ones.'),
      cert: z.string().min(1).optional().describe('Our certificate in PEM, for mutual TLS.'),
      key: secretText().optional().describe('The key of our certificate in PEM.'),
    }),
  ]);

export type TlsSetting = z.infer<ReturnType<typeof tlsSetting>>;

/** The settings that SQS, SNS and EventBridge share. */
export const awsShape = {
  region: z
    .string()
    .regex(/^[a-z]{2}(?:-[a-z0-9]+)+$/, { error: 'must be a region such as eu-west-1' })
    .describe('The region.'),
  credentials: z
    .union([
      z.literal(machineIdentity),
      z.strictObject({
        access_key_id: z.string().min(1).describe('The id of the access key.'),
        secret_access_key: secretText().describe('The access key.'),
        session_token: secretText().optional().describe('The token of temporary credentials.'),
      }),
    ])
    .describe(
      'An access key; or `machine`, in files only: the role of the machine or container, or the AWS_ variables, found as AWS’s own tools do.',
    ),
  endpoint: httpUrl()
    .optional()
    .describe('The address of the service, for a private link; by default the one of the region.'),
};
