import { Button, NumberInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAct } from '../../api/query.tsx';
import type { HotelReport } from '../../api/types.ts';
import { Card } from '../../parts/basics.tsx';
import { number, percent } from '../../parts/format.ts';
import { type Column, Table } from '../../parts/Table.tsx';
import { useMay } from '../../shell/session.ts';
import { Change } from './Change.tsx';
import { money } from './money.ts';

type Month = HotelReport['months'][number];

const long = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const nameOf = ({ month }: Month) => long.format(new Date(`${month}-01`));

/** This month beside the last ones and those to come, each against a year ago and its budget. */
export function Months({ name, report: { months, day, currency } }: { name: string; report: HotelReport }) {
  const [isAll, setAll] = useState(false);
  const current = months.findIndex(({ month }) => day.startsWith(month));
  const amount = (value: number | null) => (value === null ? '–' : money(value, currency));
  /** A figure and by how much it is ahead of the one a year ago. */
  const figure =
    (
      of: (figures: NonNullable<Month['last_year']>) => number | null,
      text: (value: number) => string,
      as: 'percent' | 'points' = 'percent',
    ) =>
    (one: Month) => {
      const now = one.known_nights === 0 ? null : of(one);
      const then = one.last_year && of(one.last_year);
      if (now === null) return '–';
      return (
        <>
          {text(now)} {then ? <Change now={now} then={then} as={as} /> : null}
        </>
      );
    };
  const amountOf = (head: string, of: Parameters<typeof figure>[0]): Column<Month> => ({
    head,
    kind: 'number',
    cell: figure(of, (value) => money(value, currency)),
  });
  const columns: Column<Month>[] = [
    {
      head: 'Month',
      cell: (one) => (
        <>
          {nameOf(one)}
          {one.known_nights < one.nights && one.known_nights > 0 && (
            <span className="muted small">
              {' '}
              {one.known_nights} of {one.nights} nights known
            </span>
          )}
        </>
      ),
    },
    { head: 'Occupancy', kind: 'number', cell: figure(({ occupancy }) => occupancy, percent, 'points') },
    amountOf('ADR', ({ adr }) => adr),
    amountOf('RevPAR', ({ revpar }) => revpar),
    amountOf('Room revenue', ({ revenue }) => revenue),
    {
      head: 'Forecast',
      kind: 'number',
      cell: ({ forecast, rooms_available: rooms }) =>
        forecast === null
          ? '–'
          : `${amount(forecast.revenue)}${rooms ? `, ${percent(Math.min(1, forecast.sold / rooms))}` : `, ${number(forecast.sold)}`}`,
    },
    { head: 'Budget', kind: 'number', cell: (one) => <Budget name={name} month={one} currency={currency} /> },
  ];
  return (
    <Card title="Months" aside="against the year before; nights to come against what was on the books then" flush>
      <Table
        label="Months"
        rows={isAll ? months : months.slice(Math.max(0, current - 2))}
        rowKey={({ month }) => month}
        columns={columns}
      />
      {!isAll && (
        <div className="more">
          <Button variant="default" size="xs" onClick={() => setAll(true)}>
            Show twelve months back
          </Button>
        </div>
      )}
    </Card>
  );
}

/** A manager enters it here; for others it is text. */
function Budget({ name, month, currency }: { name: string; month: Month; currency: string }) {
  const may = useMay('operator');
  const [draft, setDraft] = useState<string | number>();
  const save = useAct(
    (room_revenue: number | null) =>
      call('integrations.budget', { integration: name, month: month.month, room_revenue }),
    () => `The budget of ${nameOf(month)} is saved.`,
  );
  const text = month.budget === null ? '–' : money(month.budget, currency);
  if (!may) return text;
  if (draft === undefined) {
    const label = `${month.budget === null ? 'Enter the' : 'Change the'} budget of ${nameOf(month)}`;
    return (
      <button
        type="button"
        className="plain"
        aria-label={`${text}. ${label}`}
        onClick={() => setDraft(month.budget ?? '')}
      >
        {month.budget === null ? 'Enter' : text}
      </button>
    );
  }
  const close = () => {
    const value = draft === '' ? null : Number(draft);
    if (value !== month.budget) save.mutate(value);
    setDraft(undefined);
  };
  return (
    <NumberInput
      size="xs"
      className="budget"
      aria-label={`Budget of ${nameOf(month)}`}
      min={0}
      value={draft}
      onChange={setDraft}
      autoFocus
      hideControls
      onBlur={close}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  );
}
