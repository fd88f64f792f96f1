import { Button, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Failure, Loading } from './basics.tsx';
import { number } from './format.ts';

export interface Column<Row> {
  readonly head: string;
  /** The head is for screen readers only, as over a column of buttons. */
  readonly silent?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are aligned right. */
  readonly kind?: 'text' | 'number' | 'code';
  /** On a phone: on a separate line, with its head before it, or left out. */
  readonly phone?: 'line' | 'labelled' | 'hidden';
  /** What to sort by; the head becomes a button. */
  readonly sortBy?: (row: Row) => string | number;
}

/**
 * Every table of the console: loading, failed, empty or rows, sorted on request. On a phone each row becomes a card, unless the
 * table is `narrow` enough to stay one.
 */
export function Table<Row>(props: {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they are being read. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  readonly error?: Error | null;
  readonly empty?: ReactNode;
  readonly narrow?: boolean;
  readonly look?: 'list' | 'diff';
  /** Scrolls within itself when it is long. */
  readonly tall?: boolean;
  /** For rows that arrive all at once: what to search if there are many. Then not all are drawn at first. */
  readonly find?: (row: Row) => string;
}) {
  const { columns, rows, find, look = 'list' } = props;
  const [order, setOrder] = useState<Order>();
  const [sought, setSought] = useState('');
  const [most, setMost] = useState(drawnAtOnce);
  if (rows === undefined) return props.error ? <Failure error={props.error} /> : <Loading />;
  if (rows.length === 0 && props.empty !== undefined) return <>{props.empty}</>;
  const matching = find && sought !== '' ? rows.filter((row) => find(row).toLowerCase().includes(sought)) : rows;
  const all = sorted(matching, columns, order);
  const shown = find ? all.slice(0, most) : all;
  const table = (
    <table className={look} data-cards={look === 'list' && !props.narrow} aria-label={props.label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={column.head} column={column} order={order} onOrder={setOrder} />
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map((row) => (
          <tr key={props.rowKey(row)}>
            {columns.map(({ head, cell, kind = 'text', phone }) => (
              <td
                key={head}
                data-kind={kind}
                data-phone={phone}
                data-label={phone === 'labelled' || (kind === 'number' && phone !== 'line') ? head : undefined}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return props.tall ? (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="table-wrap tall" tabIndex={0} aria-label={props.label}>
      {table}
    </section>
  ) : (
    <>
      {find && rows.length > drawnAtOnce && (
        <div className="more">
          <TextInput
            label={`Find in ${number(rows.length)} rows`}
            onChange={(event) => setSought(event.currentTarget.value.trim().toLowerCase())}
          />
        </div>
      )}
      <div className="table-wrap">{table}</div>
      {shown.length < all.length && (
        <div className="more">
          <Button variant="default" size="xs" onClick={() => setMost(most + drawnAtOnce)}>
            Show more
          </Button>{' '}
          <span className="muted small">
            {number(shown.length)} of {number(all.length)}
          </span>
        </div>
      )}
    </>
  );
}

/** A browser takes seconds to draw thousands of rows. */
const drawnAtOnce = 100;

interface Order {
  readonly head: string;
  readonly down: boolean;
}

function Head<Row>(props: { column: Column<Row>; order: Order | undefined; onOrder: (order: Order) => void }) {
  const { head, kind = 'text', phone, silent, sortBy } = props.column;
  const current = props.order?.head === head ? props.order : undefined;
  // Numbers are sorted in descending order, so that the worst is first.
  const next = current ? !current.down : kind === 'number';
  return (
    <th
      scope="col"
      data-kind={kind}
      data-phone={phone}
      aria-sort={current && (current.down ? 'descending' : 'ascending')}
    >
      {silent ? (
        <span className="visually-hidden">{head}</span>
      ) : sortBy ? (
        <button type="button" className="sort" onClick={() => props.onOrder({ head, down: next })}>
          {head}
        </button>
      ) : (
        head
      )}
    </th>
  );
}

function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | undefined): readonly Row[] {
  const by = columns.find(({ head }) => head === order?.head)?.sortBy;
  if (!order || !by) return rows;
  const compare = (one: Row, other: Row): number => {
    const [a, b] = [by(one), by(other)];
    return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
  };
  return rows.toSorted((one, other) => (order.down ? compare(other, one) : compare(one, other)));
}
