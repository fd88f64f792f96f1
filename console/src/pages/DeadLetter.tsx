import { Button, CopyButton, Modal, Textarea } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { Json, Preview, WholeDeadLetter } from '../api/types.ts';
import { ownWords, withOwnWords } from '../parts/answer.ts';
import { Card, Empty, Head, Loaded, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { replayWould } from '../parts/claims.ts';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { DiffTable, inOrder, JsonText } from '../parts/data.tsx';
import { capital, clockOf, plural, sentence, words } from '../parts/format.ts';
import { StudioLink } from '../parts/StudioLink.tsx';
import { Table } from '../parts/Table.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';
import { AssignCard } from './AssignCard.tsx';
import { linesOf } from './studio/LinkedJson.tsx';

const route = getRouteApi('/console/dead-letters/$id');

export function DeadLetter() {
  const { id } = route.useParams();
  const query = useApi('dead_letters.get', { id });
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
                  {letter.destination && ` to ${letter.destination}`} · <RelativeTime at={letter.at} />
                  {letter.times > 1 && ` · ${letter.times} times`}
                </span>
              </span>
            }
          >
            {letter.record_id && letter.type && (
              <Button
                variant="default"
                component={Link}
                to={`/reservations/${letter.integration}/${letter.type}s/${encodeURIComponent(letter.record_id)}`}
              >
                Timeline
              </Button>
            )}
          </Head>
          <div className="stack">
            <Why letter={letter} />
            {letter.code === 'push.guest_ambiguous' && letter.state === 'open' && <AssignCard letter={letter} />}
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
  const all = useSeesAllBrands();
  return (
    <Notice tone={letter.state === 'open' ? 'bad' : 'calm'} title={withOwnWords(letter.message, answerOf(letter))}>
      <p>{letter.advice}</p>
      <p className="small muted">
        <code>{letter.code}</code>
        {letter.waiting_behind > 0 &&
          ` · ${plural(letter.waiting_behind, 'newer version')} of the same record waiting behind it`}
        {letter.closed_by && ` · ${letter.state} by ${letter.closed_by}`}
        {letter.closed_reason && `: ${letter.closed_reason}`}
      </p>
      {all && letter.state === 'open' && (
        <p>
          {letter.kind === 'delivery' ? (
            <Link to="/documents/$kind/$name" params={{ kind: 'destination', name: letter.destination ?? '' }}>
              Edit the destination {letter.destination}
            </Link>
          ) : (
            !letter.at_partner && (
              <StudioLink integration={letter.integration} letter={letter.id}>
                Fix the mapping in the studio, with this payload as the sample
              </StudioLink>
            )
          )}
        </p>
      )}
      {letter.kind !== 'delivery' && letter.state === 'open' && (
        <CopyButton value={forPartner(letter)}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy a message for the partner'}
            </Button>
          )}
        </CopyButton>
      )}
    </Notice>
  );
}

/** For an e-mail to the partner: ids, fields and times, without values of the guest. */
function forPartner({ record_id, integration, message, marks, at, last_at, times, cause }: WholeDeadLetter): string {
  const what = record_id ? `Reservation ${record_id}` : 'A reservation without an id';
  return [
    `${what} of ${integration} could not be processed.`,
    `What is wrong: ${sentence(message)}`,
    ...(marks.length > 0 ? [`In your data: ${marks.join(', ')}.`] : []),
    times > 1
      ? `We received it ${plural(times, 'time')}, first at ${at}, last at ${last_at}.`
      : `We received it at ${at}.`,
    `Please correct it in your system. We take the corrected reservation ${cause === 'run' ? 'with our next request' : 'when you send it again'}.`,
  ].join('\n');
}

type Under = 'today' | 'recorded';

function Replay({ letter }: { letter: WholeDeadLetter }) {
  const [under, setUnder] = useState<Under>(letter.kind === 'delivery' ? 'recorded' : 'today');
  const [dropping, setDropping] = useState(false);
  const operator = useMay('operator');
  const { id } = letter;
  const preview = useApi('dead_letters.preview', { id, under }, { enabled: letter.state === 'open' });
  const replay = useAct(
    () => call('dead_letters.replay', { id, under }),
    ({ result, message }) =>
      result === 'replayed' ? 'Replayed. It is being processed.' : `It stays open: ${message ?? words(result)}`,
  );
  if (letter.state !== 'open') {
    return (
      <Card title="Replay">
        <p className="muted">It was {letter.state}. Nothing more to do.</p>
      </Card>
    );
  }
  return (
    <Card title="What a replay would change">
      <div className="stack">
        <Choice
          label="Which documents"
          options={{ today: 'Current documents', recorded: 'Documents it failed under' }}
          value={under}
          onChange={setUnder}
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
      <Drop letter={letter} opened={dropping} onClose={() => setDropping(false)} />
    </Card>
  );
}

function Seen({ preview }: { preview: Preview }) {
  if (preview.kind === 'gone') return <Notice tone="calm" title={preview.message} />;
  if (preview.kind === 'dropped')
    return (
      <Notice tone="warn" title="A transform rule now drops it">
        {preview.reason}
      </Notice>
    );
  if (preview.kind === 'still_failing') {
    return (
      <Notice tone="bad" title={replayWould(preview)?.text}>
        {sentence(preview.message)}
      </Notice>
    );
  }
  if (preview.record.id === '') {
    return (
      <Notice tone="calm" title="It would be processed again from the beginning">
        Its result depends on what is stored then.
      </Notice>
    );
  }
  const whole = preview.diff.length === 1 && preview.diff[0]?.path === '';
  return (
    <>
      <Notice tone={replayWould(preview)?.tone ?? 'calm'} title={replayWould(preview)?.text}>
        {preview.diff.length === 0
          ? 'The record and its idempotency key stay the same, so a destination that already has it ignores the copy.'
          : whole
            ? `It becomes the ${preview.record.type} ${preview.record.id}.`
            : `It changes ${plural(preview.diff.length, 'field')} of the ${preview.record.type} ${preview.record.id}.`}
      </Notice>
      {whole ? (
        <JsonText value={preview.after} label="Resulting record" />
      ) : (
        preview.diff.length > 0 && <DiffTable diff={preview.diff} />
      )}
    </>
  );
}

function Drop(props: { letter: WholeDeadLetter; opened: boolean; onClose: () => void }) {
  const { id, waiting_behind: behind } = props.letter;
  const drop = useAct(
    (reason: string) => call('dead_letters.drop', { id, reason }),
    () => {
      props.onClose();
      return behind > 0 ? `Dropped. ${plural(behind, 'newer version')} behind it can be delivered now.` : 'Dropped.';
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    drop.mutate(String(new FormData(event.currentTarget).get('reason')));
  };
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="Drop the dead letter">
      <form onSubmit={submit} className="form">
        <Textarea
          name="reason"
          label="Reason, for the audit"
          required
          minLength={1}
          maxLength={500}
          autosize
          minRows={2}
        />
        <DialogButtons onCancel={props.onClose}>
          <Button type="submit" data-danger loading={drop.isPending}>
            Drop
          </Button>
        </DialogButtons>
      </form>
    </Modal>
  );
}

/** The destination's answer to the last attempt. */
function answerOf({ detail }: WholeDeadLetter): string | undefined {
  if (detail === null || typeof detail !== 'object' || Array.isArray(detail)) return undefined;
  return typeof detail.answer === 'string' ? detail.answer : undefined;
}

/** The payload without the envelope that it is stored in. */
function recordOf(raw: Json): Json {
  return raw !== null && typeof raw === 'object' && !Array.isArray(raw) ? (raw.value ?? raw) : raw;
}

function Kept({ letter }: { letter: WholeDeadLetter }) {
  const value = recordOf(letter.raw) ?? letter.data ?? letter.event;
  const answer = ownWords(answerOf(letter))?.whole;
  return (
    <Card
      title={letter.raw !== null ? 'Payload received' : 'Payload to deliver'}
      aside="opening it was recorded in the audit"
    >
      <div className="stack">
        {letter.attempts.length > 0 && (
          <Table
            label="Attempts"
            look="diff"
            rows={letter.attempts}
            rowKey={({ at }) => at}
            columns={[
              { head: 'At', cell: ({ at }) => <span className="nowrap">{clockOf(at)}</span> },
              { head: 'Answer', cell: ({ status, outcome }) => status ?? words(outcome) },
              { head: 'Message', cell: ({ message, code }) => message ?? code },
            ]}
          />
        )}
        {value === null || value === undefined ? (
          <Empty title="The payload is no longer kept" />
        ) : (
          <MarkedJson value={value} marks={letter.raw === null ? [] : letter.marks} label="Payload" />
        )}
        {answer !== undefined ? (
          <details className="fold" open>
            <summary>Full answer of the destination</summary>
            <JsonText value={answer} label="Answer" />
          </details>
        ) : (
          letter.detail !== null && (
            <details className="fold">
              <summary>Details</summary>
              <JsonText value={letter.detail} label="Details" />
            </details>
          )
        )}
      </div>
    </Card>
  );
}

/** The payload with the values that broke a rule marked. */
function MarkedJson({ value, marks, label }: { value: Json; marks: readonly string[]; label: string }) {
  const box = useRef<HTMLElement>(null);
  // The first bad value may be far down.
  useEffect(() => {
    const first = box.current?.querySelector('mark')?.getBoundingClientRect();
    const own = box.current?.getBoundingClientRect();
    if (box.current && first && own) box.current.scrollTop = first.top - own.top - own.height / 3;
  }, []);
  if (marks.length === 0) return <JsonText value={value} label={label} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={box} tabIndex={0} aria-label={label} className="scrolls">
      <pre className="json">
        {[...linesOf(inOrder(value), '', { key: undefined, depth: 0, comma: false })].map((line, index) => {
          const text = (
            <>
              {line.key !== undefined && <span className="k">{JSON.stringify(line.key)}: </span>}
              <span className={line.kind}>{line.text}</span>
            </>
          );
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
            <div key={index} style={{ paddingLeft: `${line.depth * 2}ch` }}>
              {line.path !== undefined && marks.includes(line.path) ? <mark>{text}</mark> : text}
              {line.comma && ','}
            </div>
          );
        })}
      </pre>
    </section>
  );
}
