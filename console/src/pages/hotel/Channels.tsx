import type { HotelReport } from '../../api/types.ts';
import { Card, Empty } from '../../parts/basics.tsx';
import { number, percent } from '../../parts/format.ts';
import { type Column, Table } from '../../parts/Table.tsx';
import { money } from './money.ts';

type Channel = HotelReport['channels'][number];

export function Channels({ report: { channels, currency } }: { report: HotelReport }) {
  const total = channels.reduce((sum, { room_nights }) => sum + room_nights, 0);
  const net: Column<Channel> = {
    head: 'After commission',
    kind: 'number',
    phone: 'hidden',
    cell: (one) => (one.net === null ? '–' : money(one.net, currency)),
  };
  return (
    <Card title="Channels" aside="room nights of the next 90 nights" flush>
      <Table
        label="Channels"
        narrow
        rows={channels.slice(0, 8)}
        rowKey={({ channel }) => channel}
        empty={<Empty small title="Nothing on the books" />}
        columns={[
          { head: 'Channel', cell: ({ channel }) => channel },
          {
            head: 'Share',
            cell: ({ room_nights }) => (
              <span className="share">
                <i style={{ inlineSize: `${(100 * room_nights) / total}%` }} />
              </span>
            ),
          },
          { head: 'Percent', silent: true, kind: 'number', cell: ({ room_nights }) => percent(room_nights / total) },
          { head: 'Room nights', kind: 'number', cell: ({ room_nights }) => number(room_nights) },
          { head: 'Revenue', kind: 'number', phone: 'hidden', cell: ({ revenue }) => money(revenue, currency) },
          ...(channels.some((one) => one.net !== null) ? [net] : []),
        ]}
      />
    </Card>
  );
}
