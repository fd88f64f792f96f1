import { Button, Modal, SegmentedControl, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { get, part, post } from '../api/client.ts';
import type { Json, Preview, ReplayResult, WholeDeadLetter } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { useBrands } from '../parts/BrandSelect.tsx';
import { Ago, Card, Empty, Head, Loaded, meaning, Notice, State } from '../parts/basics.tsx';
import { DiffTable, JsonText } from '../parts/data.tsx';
import { capital, clockOf, plural, words } from '../parts/format.ts';
import { useMay } from '../shell/session.ts';

const route = getRouteApi('/desk/dead-letters/$id');

export function DeadLetter() {
  const { id } = route.useParams();
  const query = useQuery({
    queryKey: ['letter', id],
    queryFn: ({ signal }) => get<WholeDeadLetter>(`/dead-letters/${part(id)}`, undefined, signal),
  });
  return (
    <Loaded
      query={query}
      head={<Head title={`Dead letter ${id}`} crumb={<Link to="/dead-letters">Dead letters</Link>} />}
    >
      {(letter) => (
        <>
          <Head
            title={`${capital(letter.kind)} ${letter.record_id ?? `#${letter.id}`}`}
            crumb={<Link to="/dead-letters">Dead letters</Link>}
            lead={
              <span className="row">
                <State of={letter.state} />
                <span>
                  {letter.integration}
                  {letter.destination && ` to ${letter.destination}`} · <Ago at={letter.at} />
                  {letter.times > 1 && ` · ${letter.times} times`}
                </span>
              </span>
            }
          >
            {letter.record_id && letter.type && (
              <Button
                variant="default"
                component={Link}
                to={`/reservations/${letter.integration}/${letter.type}s/${part(letter.record_id)}`}
              >
                Timeline
              </Button>
            )}
          </Head>
          <div className="stack">
            <Why letter={letter} />
            <div className="split">
              <Replay letter={letter} />
              <Kept letter={letter} />
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

function Why({ letter }: { letter: WholeDeadLetter }) {
  const known = meaning(letter.code);
  const { connector } = useBrands().find(({ name }) => name === letter.integration) ?? {};
  return (
    <Notice tone={letter.state === 'open' ? 'bad' : 'calm'} title={letter.message}>
      <p>{known?.next}</p>
      <p className="small muted">
        <code>{letter.code}</code>
        {letter.waiting_behind > 0 &&
          ` · ${plural(letter.waiting_behind, 'newer version')} of the same booking wait behind it`}
        {letter.closed_by && ` · ${letter.state} by ${letter.closed_by}`}
        {letter.closed_reason && `: ${letter.closed_reason}`}
      </p>
      {letter.state === 'open' && (
        <p>
          {letter.kind === 'delivery' ? (
            <Link to="/documents/$kind/$name" params={{ kind: 'destination', name: letter.destination ?? '' }}>
              Fix the destination {letter.destination}
            </Link>
          ) : (
            connector && (
              <Link to="/studio" search={{ connector, letter: letter.id }}>
                Fix the mapping in the studio, with this as the sample
              </Link>
            )
          )}
        </p>
      )}
    </Notice>
  );
}

type Under = 'today' | 'recorded';

function Replay({ letter }: { letter: WholeDeadLetter }) {
  const [under, setUnder] = useState<Under>(letter.kind === 'delivery' ? 'recorded' : 'today');
  const [dropping, setDropping] = useState(false);
  const operator = useMay('operator');
  const path = `/dead-letters/${part(letter.id)}`;
  const preview = useQuery({
    queryKey: ['preview', letter.id, under],
    queryFn: ({ signal }) => get<Preview>(`${path}/preview`, { under }, signal),
    enabled: letter.state === 'open',
  });
  const replay = useAct(
    () => post<ReplayResult>(`${path}/replay`, { under }),
    ({ result, message }) =>
      result === 'replayed' ? 'Replayed: it goes its way now.' : `It stays: ${message ?? words(result)}`,
  );
  if (letter.state !== 'open') {
    return (
      <Card title="Replay">
        <p className="muted">It is {letter.state} and needs nothing more.</p>
      </Card>
    );
  }
  return (
    <Card title="What a replay would change">
      <div className="stack">
        <SegmentedControl
          value={under}
          onChange={(value) => setUnder(value as Under)}
          data={[
            { value: 'today', label: 'Today’s documents' },
            { value: 'recorded', label: 'Those it failed under' },
          ]}
          aria-label="Which documents"
        />
        <Loaded query={preview}>{(seen) => <Seen preview={seen} />}</Loaded>
        {operator && (
          <div className="row">
            <Button
              onClick={() => replay.mutate(undefined)}
              loading={replay.isPending}
              disabled={preview.data?.kind !== 'ready' && preview.data?.kind !== 'dropped'}
            >
              Replay
            </Button>
            <Button variant="default" onClick={() => setDropping(true)}>
              Drop …
            </Button>
          </div>
        )}
      </div>
      <Drop id={letter.id} opened={dropping} onClose={() => setDropping(false)} />
    </Card>
  );
}

function Seen({ preview }: { preview: Preview }) {
  if (preview.kind === 'gone') return <Notice tone="calm" title={preview.message} />;
  if (preview.kind === 'dropped')
    return (
      <Notice tone="warn" title="A rule drops it now">
        {preview.reason}
      </Notice>
    );
  if (preview.kind === 'still_failing') {
    return (
      <Notice tone="bad" title="It would fail again">
        {preview.message} {meaning(preview.code)?.next}
      </Notice>
    );
  }
  const whole = preview.diff.length === 1 && preview.diff[0]?.path === '';
  return (
    <>
      <Notice tone="good" title={preview.diff.length === 0 ? 'It would go out again as it is' : 'It would pass'}>
        {preview.diff.length === 0
          ? 'Nothing about the record changes. It keeps its idempotency key, so a destination that took it once takes it once.'
          : whole
            ? `${capital(preview.record.type)} ${preview.record.id} becomes known.`
            : `${plural(preview.diff.length, 'field')} of ${preview.record.type} ${preview.record.id} change.`}
      </Notice>
      {whole ? (
        <JsonText value={preview.after} label="The record it becomes" />
      ) : (
        preview.diff.length > 0 && <DiffTable diff={preview.diff} />
      )}
    </>
  );
}

function Drop(props: { id: string; opened: boolean; onClose: () => void }) {
  const drop = useAct(
    (reason: string) => post(`/dead-letters/${part(props.id)}/drop`, { reason }),
    () => {
      props.onClose();
      return 'Dropped. What it held back flows again.';
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    drop.mutate(String(new FormData(event.currentTarget).get('reason')));
  };
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="Give it up">
      <form onSubmit={submit} className="form">
        <Textarea
          name="reason"
          label="Why, for whoever asks later"
          required
          minLength={1}
          maxLength={500}
          autosize
          minRows={2}
        />
        <div>
          <Button type="submit" data-danger loading={drop.isPending}>
            Drop it
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** What came in, without the key that it is kept under. */
function recordOf(raw: Json): Json {
  return raw !== null && typeof raw === 'object' && !Array.isArray(raw) ? (raw.value ?? raw) : raw;
}

function Kept({ letter }: { letter: WholeDeadLetter }) {
  const value = recordOf(letter.raw) ?? letter.data ?? letter.event;
  return (
    <Card title={letter.raw !== null ? 'What came in' : 'What was to be sent'} aside="that you read it is in the audit">
      <div className="stack">
        {letter.attempts.length > 0 && (
          <table className="diff">
            <tbody>
              {letter.attempts.map((attempt) => (
                <tr key={attempt.at}>
                  <td>{clockOf(attempt.at)}</td>
                  <td>{attempt.status ?? words(attempt.outcome)}</td>
                  <td>{attempt.message ?? attempt.code}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {value === null || value === undefined ? (
          <Empty title="The payload is no longer kept" />
        ) : (
          <JsonText value={value} label="Payload" />
        )}
        {letter.detail !== null && (
          <details className="fold" open={letter.kind === 'delivery'}>
            <summary>{letter.kind === 'delivery' ? 'What was answered' : 'Detail'}</summary>
            <JsonText value={letter.detail} label="Detail" />
          </details>
        )}
      </div>
    </Card>
  );
}
