import { z } from 'zod';
import { durationMs } from './duration.ts';
import { durationText } from './scalars.ts';

export const rateSchema = z.strictObject({
  requests: z.int().min(1).max(1_000_000).describe('How many requests.'),
  per: durationText('1s', '1d').default('1s').describe('The period.'),
  burst: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('How many requests may be sent at once after a pause; as many as `requests` by default.'),
});

/** One request every `everyMs`, and `burst` at once after a quiet time. */
export function rateOf({ requests, per, burst = requests }: z.infer<typeof rateSchema>) {
  return { everyMs: durationMs(per) / requests, burst };
}
