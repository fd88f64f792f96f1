import type { LocalDate } from '../json.ts';
import type { CheckAuth } from './auth.ts';
import type { ListWords, WalkKind } from './evidence.ts';

export interface Target extends ListWords {
  /** The API's base URL; the paths of the description are appended. */
  readonly baseUrl: string;
  readonly auth: CheckAuth;
  readonly from: LocalDate;
  readonly to: LocalDate;
  /** GET with a query, or POST with a body. Default: get. */
  readonly form?: 'get' | 'post';
  /** The list's path. Default: /api/reservations, or /api/reservations/search for POST. */
  readonly listPath?: string;
  /** Default: detected; cursor, then link, else offset. `none`: one answer has everything. */
  readonly paging?: WalkKind | 'none';
  readonly cursorParameter?: string;
  /** For the POST form. */
  readonly propertyId?: string;
}
