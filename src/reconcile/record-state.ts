import type { Moment } from './statement.ts';
import type { StoredViews } from './stored-views.ts';

/** What is written for a record besides its content. */
export interface RecordState {
  readonly moment: Moment;
  readonly views: StoredViews | undefined;
}

export const viewsText = (views: StoredViews | undefined): string | undefined =>
  views === undefined ? undefined : JSON.stringify(views);
