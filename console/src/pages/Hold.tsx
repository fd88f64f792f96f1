import { Button, Modal } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import { Card, Empty, Head, Loaded, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { capital, fieldName, number, percent, plural, shown, words } from '../parts/format.ts';
import { BrandLink, RecordLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';

const route = getRouteApi('/console/holds/$id');
type Preview = Answer<'holds.preview'>;
type Decision = 'release' | 'refuse';

/** One hold: what the partner changed in nearly all bookings at once, before and after, and the decision. */
export function Hold() {
  const { id } = route.useParams();
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [deciding, setDeciding] = useState<Decision>();
  const operator = useMay('operator');
  const cursor = cursors.at(-1);
  const query = useApi('holds.preview', { hold_id: id, ...(cursor !== undefined && { cursor }) }, { keep: true });
  return (
    <Loaded query={query} head={<Head title="Held back" crumb={<Link to="/alerts">Alerts</Link>} />}>
      {(preview) => (
        <>
          <Head
            title={capital(preview.hold.message)}
            crumb={<BrandLink name={preview.hold.integration} />}
            lead={
              <span className="row">
                <State of={preview.hold.state} tone={preview.hold.state === 'open' ? 'warn' : 'calm'} />
                <span>
                  by {preview.hold.feed === 'pull' ? 'pulls' : 'events'} since <RelativeTime at={preview.hold.at} />
                </span>
              </span>
            }
          >
            {operator && preview.hold.state === 'open' && (
              <>
                <Button variant="default" onClick={() => setDeciding('release')}>
                  Release …
                </Button>
                <Button variant="default" onClick={() => setDeciding('refuse')}>
                  Refuse …
                </Button>
              </>
            )}
          </Head>
          <div className="stack">
            <Meaning preview={preview} />
            <Rows preview={preview} page={cursors.length} />
            <div className="row">
              {cursors.length > 0 && (
                <Button variant="default" onClick={() => setCursors(cursors.slice(0, -1))}>
                  Previous
                </Button>
              )}
              {preview.next_cursor !== null && (
                <Button variant="default" onClick={() => setCursors([...cursors, preview.next_cursor ?? ''])}>
                  Next 50
                </Button>
              )}
            </div>
          </div>
          {deciding && <Decide hold={preview.hold} decision={deciding} onClose={() => setDeciding(undefined)} />}
        </>
      )}
    </Loaded>
  );
}

function Meaning({ preview: { hold, remedy } }: { preview: Preview }) {
  const all = useSeesAllBrands();
  if (hold.state !== 'open')
    return (
      <Notice tone="calm" title={`${capital(words(hold.state))}${hold.closed_by ? ` by ${hold.closed_by}` : ''}`}>
        <RelativeTime at={hold.closed_at} />
      </Notice>
    );
  return (
    <Notice tone="warn" title="Is this a mistake of the partner?">
      <p>
        The stored values stay, and nothing of this is delivered. It ends by itself when the partner’s answers are
        normal again.{' '}
        {hold.path &&
          `Before, ${percent(hold.share_before)} of the rows had ${hold.path}; now ${percent(hold.share_now)}.`}
      </p>
      {remedy && (
        <p>
          The field is probably renamed: map <code>{remedy.path}</code> from <code>{remedy.from}</code>. The held values
          are then read again.{' '}
          {all && (
            <Link
              to="/studio"
              search={{ connector: remedy.connector, hold: hold.id, field: remedy.path, path: remedy.from }}
            >
              Try it in the studio
            </Link>
          )}
        </p>
      )}
    </Notice>
  );
}

function Rows({ preview: { hold, rows }, page }: { preview: Preview; page: number }) {
  const changes = rows.flatMap(({ reservation_id, diff }) =>
    (diff.length === 0 ? [undefined] : diff).map((one, index) => ({ reservation_id, one, index })),
  );
  const first = page * 50 + 1;
  return (
    <Card
      title={plural(hold.waiting, 'booking')}
      aside={
        hold.waiting > rows.length
          ? `${number(first)} to ${number(first + rows.length - 1)}`
          : 'what a release would change'
      }
      flush
    >
      <Table
        label="Held bookings"
        rows={changes}
        rowKey={({ reservation_id, index }) => `${reservation_id} ${index}`}
        empty={<Empty small title="No booking waits for a decision" />}
        columns={[
          {
            head: 'Booking',
            cell: ({ reservation_id }) => <RecordLink integration={hold.integration} id={reservation_id} />,
          },
          {
            head: 'Field',
            phone: 'labelled',
            cell: ({ one }) => (one ? fieldName(one.path) || 'the whole booking' : '–'),
          },
          { head: 'Stored', phone: 'labelled', cell: ({ one }) => (one ? shown(one.before) : '–') },
          { head: 'Held', phone: 'labelled', cell: ({ one }) => (one ? shown(one.after) : 'no change') },
        ]}
      />
    </Card>
  );
}

function Decide(props: { hold: Preview['hold']; decision: Decision; onClose: () => void }) {
  const { hold, decision } = props;
  const bookings = plural(hold.waiting, 'booking');
  const act = useAct(
    async (): Promise<string> => {
      if (decision === 'release') {
        const { released } = await call('holds.release', { hold_id: hold.id });
        return `The held values of ${plural(released, 'booking')} count now.`;
      }
      const { refused } = await call('holds.refuse', { hold_id: hold.id });
      return `The held values of ${plural(refused, 'booking')} are refused; the stored ones stay.`;
    },
    (message) => {
      props.onClose();
      return message;
    },
  );
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={decision === 'release' ? 'Release the held values?' : 'Refuse the held values?'}
    >
      <div className="stack">
        <p>
          {capital(hold.message)}.{' '}
          {decision === 'release'
            ? `The held values of ${bookings} replace the stored ones, as of the time they arrived, and are delivered.`
            : `Exactly these values of ${bookings} are dropped, also when the partner repeats them. The next different value is judged afresh.`}
        </p>
        <DialogButtons onCancel={props.onClose}>
          <Button onClick={() => act.mutate(undefined)} loading={act.isPending} data-autofocus>
            {decision === 'release' ? 'Release' : 'Refuse'} the values of {bookings}
          </Button>
        </DialogButtons>
      </div>
    </Modal>
  );
}
