import { z } from 'zod';
import { isCurrency } from '../canonical/currency.ts';
import { dateText } from './capacity.ts';
import { checkedText } from './checked.ts';

const currencyText = checkedText('a currency of ISO 4217 such as EUR', (text) =>
  isCurrency(text) ? undefined : { message: 'must be a currency of ISO 4217 such as EUR' },
);

/** How the page of a hotel shows its figures. */
export const measuresSchema = z.strictObject({
  definition: z
    .enum(['innbound', 'usali'])
    .default('innbound')
    .describe(
      'innbound: complimentary rooms count as sold, rooms that are out of order are not available. usali: the other way round, as hotels are compared.',
    ),
  currency: currencyText.optional().describe('The reporting currency; by default the one of most nights.'),
  rates: z
    .record(currencyText, z.record(dateText, z.number().positive()))
    .default({})
    .describe('What one unit of another currency is worth in the reporting currency, from a night on.'),
  commission: z
    .record(z.string().min(1), z.number().min(0).max(100))
    .default({})
    .describe('Percent of the room revenue that a channel keeps, for the revenue after commission.'),
});
