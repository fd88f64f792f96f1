import type { HotelReport } from '../../api/types.ts';
import { Card } from '../../parts/basics.tsx';
import { number } from '../../parts/format.ts';
import { Table } from '../../parts/Table.tsx';
import { Change } from './Change.tsx';

const parts = ['1–30', '31–60', '61–90'];
type Part = HotelReport['pace'][number];

type Then = (part: Part) => { readonly rooms: number } | null;

/** Without any booking at that time, nothing is known of it: most likely the brand was not connected yet. */
const compared = (pace: readonly Part[], then: Then) => (part: Part) => {
  const before = then(part);
  return before === null || pace.every((one) => !then(one)?.rooms) ? (
    '–'
  ) : (
    <>
      {number(before.rooms)} <Change now={part.now.rooms} then={before.rooms} />
    </>
  );
};

/** On the books as they were on other days. */
export function Pace({ report: { pace } }: { report: HotelReport }) {
  return (
    <Card title="Pace" aside="room nights on the books, and by how much we are ahead" flush>
      <Table
        label="Pace"
        narrow
        rows={pace}
        rowKey={({ from }) => from}
        columns={[
          { head: 'Nights', cell: ({ from }) => parts[pace.findIndex((one) => one.from === from)] },
          { head: 'Now', kind: 'number', cell: ({ now }) => number(now.rooms) },
          { head: 'A week ago', kind: 'number', cell: compared(pace, ({ week_ago }) => week_ago) },
          { head: '4 weeks ago', kind: 'number', phone: 'hidden', cell: compared(pace, ({ month_ago }) => month_ago) },
          { head: 'Last year', kind: 'number', cell: compared(pace, ({ year_ago }) => year_ago) },
          {
            head: 'It ended at',
            kind: 'number',
            phone: 'hidden',
            cell: ({ year_ago_final: end }) => (end === null ? '–' : number(end.rooms)),
          },
        ]}
      />
    </Card>
  );
}
