import { z } from 'zod';
import { reportKinds } from '../../../terms.ts';

/** One list of a vendor that says who unsubscribed, bounced or complained, and since when. Texts are templates. */
export const feedbackSchema = z.strictObject({
  /** With {since.iso}, {since.ms}, {since.date}, and {until.date}, which is tomorrow. */
  url: z.string(),
  /** Settings without which the list is not read. */
  requires: z.array(z.string()).default([]),
  /** The rows in the answer. */
  list: z.string(),
  /** A list inside each row: each of its elements, with the fields of the row, is a row. */
  each: z.string().optional(),
  email: z.string(),
  /** When it happened, or when the vendor's record last changed: ISO 8601, or Unix time in milliseconds. */
  at: z.string(),
  /** A row means this if it has all values of one of the conditions; other rows mean nothing. */
  says: z.partialRecord(z.enum(reportKinds), z.array(z.record(z.string(), z.union([z.string(), z.boolean()]))).min(1)),
  /** The path of the next page's address; with `more`, of the value of {page}. */
  next: z.string().optional(),
  /** Added to the address from the second page on; without `next`, {page} is the number of rows so far. */
  more: z.string().optional(),
  /** The rows of a full page, where the vendor does not say whether there are more. */
  page_size: z.int().optional(),
});
export type Feedback = z.infer<typeof feedbackSchema>;
