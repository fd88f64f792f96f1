import { z } from 'zod';
import { answerPath, placeText } from './answer-path.ts';

const pageSize = () => z.int().min(1).max(10_000).default(200);
const totalPath = () =>
  z
    .union([answerPath(), z.literal(false)], { error: 'must be a path, or false' })
    .default('total')
    .describe(
      'Path in the response to the count of all records, or header.NAME. If it is present, the run is checked against it. `false`: the response has no such count; a field named total is something else.',
    );

const sizedBy = (request: string) => ({
  limit: placeText().optional().describe(`Where ${request} carries the page’s size, if it can be chosen.`),
  page_size: pageSize().describe('The page size to request with `limit`.'),
  total: totalPath(),
});

const offset = z
  .strictObject({
    type: z
      .literal('offset')
      .describe(
        'A start and a limit; the start grows by the rows received, less a few where the partner reports a total.',
      ),
    offset: placeText('query.offset').describe('Where the request carries the start.'),
    limit: placeText('query.limit').describe('Where the request carries the limit.'),
    page_size: pageSize().describe(
      'The limit to request. A page with fewer rows is the last, unless `total` says otherwise.',
    ),
    first: z.int().min(0).max(1).default(0).describe('The start of the first page.'),
    total: totalPath(),
  })
  .meta({ title: 'offset', description: 'By a start and a limit.' });

const page = z
  .strictObject({
    type: z.literal('page').describe('A page number that grows by one.'),
    page: placeText('query.page').describe('Where the request carries the page’s number.'),
    limit: placeText('query.limit')
      .optional()
      .describe('Where the request carries the page’s size, if it can be chosen.'),
    page_size: pageSize().describe(
      'The number of rows to request with `limit`. A page with fewer rows is the last, unless `total` says otherwise; without `limit`, the first page shows the size.',
    ),
    first: z.int().min(0).max(1).default(1).describe('The number of the first page.'),
    total: totalPath(),
  })
  .meta({ title: 'page', description: 'By page number.' });

const cursor = z
  .strictObject({
    type: z.literal('cursor').describe('Each page names the next.'),
    next: answerPath()
      .meta({ examples: ['next_cursor'] })
      .describe('Path in the response to the next cursor, or header.NAME; absent, null or empty on the last page.'),
    more: answerPath()
      .optional()
      .describe(
        'Path in the response to a flag such as pageInfo.hasNextPage, for a partner that sends a cursor with the last page too. The list ends where it is false.',
      ),
    cursor: placeText('query.cursor').describe('Where the next request carries the cursor.'),
    replaces: z
      .string()
      .min(1)
      .optional()
      .describe('The query parameter of the first request that the others leave out, because the cursor contains it.'),
    ...sizedBy('the request'),
  })
  .meta({ title: 'cursor', description: 'By a token in the response.' });

const link = z
  .strictObject({
    type: z.literal('link').describe('The Link header (RFC 8288) with rel="next" holds the next page’s address.'),
    ...sizedBy('the first request'),
  })
  .meta({ title: 'link', description: 'By the Link header.' });

const url = z
  .strictObject({
    type: z.literal('url').describe('The response holds the next page’s address, such as links.next.'),
    next: answerPath()
      .meta({ examples: ['links.next'] })
      .describe(
        'Path in the response to the next address, or header.NAME; absent, null or empty on the last page. Followed on the same host only.',
      ),
    ...sizedBy('the first request'),
  })
  .meta({ title: 'url', description: 'By an address in the response.' });

const none = z
  .strictObject({ type: z.literal('none').describe('One response holds the whole window.') })
  .meta({ title: 'none', description: 'No pages.' });

export const paginationSchema = z.discriminatedUnion('type', [offset, page, cursor, link, url, none]);
export type Pagination = z.infer<typeof paginationSchema>;
