import type { ReactNode } from 'react';
import { Card, Empty, Head } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { noneOpen } from '../parts/claims.ts';
import { type Column, Table } from '../parts/Table.tsx';
import { useCounts } from '../shell/overview.ts';

export type Which = 'open' | 'all';

/** The page for alerts, and for incidents. */
export function OpenOrAll<Row>(props: {
  title: string;
  lead: string;
  state: Which;
  onState: (state: Which) => void;
  list: { rows: readonly Row[] | undefined; error: Error | null; more: ReactNode };
  rowKey: (row: Row) => string;
  /** Shown if there has never been one. */
  never: string;
  columns: readonly Column<Row>[];
}) {
  const { title, state, list } = props;
  const things = title.toLowerCase();
  const { unwell = 0 } = useCounts() ?? {};
  return (
    <>
      <Head title={title} lead={props.lead}>
        <Choice
          small
          label={`Which ${things}`}
          options={{ open: 'Open', all: 'All' }}
          value={state}
          onChange={props.onState}
        />
      </Head>
      <Card flush>
        <Table
          label={title}
          rows={list.rows}
          error={list.error}
          rowKey={props.rowKey}
          empty={<Empty title={state === 'open' ? noneOpen(things, unwell).text : props.never} />}
          columns={props.columns}
        />
        {list.more}
      </Card>
    </>
  );
}
