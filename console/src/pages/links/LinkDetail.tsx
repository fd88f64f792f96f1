import { Button, Checkbox, MultiSelect, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { en } from '../../../partner/texts/en.ts';
import { fill } from '../../../partner/texts.ts';
import { call } from '../../api/client.ts';
import { useAct, useApi } from '../../api/query.tsx';
import type { OnboardingDetail as Detail, Json } from '../../api/types.ts';
import { Loaded, Notice, RelativeTime, State } from '../../parts/basics.tsx';
import { JsonText } from '../../parts/data.tsx';
import { LineDiff } from '../../parts/LineDiff.tsx';
import { Sure } from '../../parts/Sure.tsx';
import { useMay } from '../../shell/session.ts';

/** The partner's checklist as the partner sees it, what its answers changed, the conversation, and the approval. */
export function LinkDetail({ id }: { id: string }) {
  const query = useApi('onboarding.get', { link_id: id }, { everyMs: 5_000 });
  return (
    <Loaded query={query}>
      {(link) => (
        <div className="stack">
          <Checks checks={link.checks} />
          {link.connector && link.connector.before !== link.connector.now && <MappingDiff connector={link.connector} />}
          <Talk link={link} />
          <Decision link={link} />
        </div>
      )}
    </Loaded>
  );
}

const tones = { done: 'good', wrong: 'bad', missing: 'calm' } as const;

function Checks({ checks }: { checks: Detail['checks'] }) {
  return (
    <ul className="plain-list">
      {checks.map(({ id, state, seen, isOptional }) => {
        const [title = id, how = ''] = en.checks.item[id] ?? [];
        return (
          <li key={id} className="row">
            <State of={state} tone={tones[state]} label={en.checks[state]} />
            <span>
              {title}
              {isOptional && <span className="muted small"> (optional)</span>}
              {state === 'wrong' && <span className="muted small"> {fill(how, seen)}</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** What the partner's answers made of the connector since the link was created. */
function MappingDiff({ connector: { name, before } }: { connector: NonNullable<Detail['connector']> }) {
  const old = useApi('documents.get', { kind: 'connector', name, version: before });
  const now = useApi('documents.get', { kind: 'connector', name });
  return (
    <details>
      <summary>Changes of the connector {name} since the link was created</summary>
      {old.data && now.data && <LineDiff before={old.data.source} after={now.data.source} label="Mapping" />}
    </details>
  );
}

function Talk({ link }: { link: Detail }) {
  const [text, setText] = useState('');
  const operator = useMay('operator');
  const last = link.comments.findLast(({ side }) => side === 'partner');
  const answer = useAct(
    () => call('onboarding.answer', { link_id: link.link_id, about: last?.about ?? '', text }),
    () => {
      setText('');
      return 'The partner sees your answer.';
    },
  );
  const confirmed = link.comments.filter((one) => one.text === '').length;
  return (
    <div className="stack">
      {confirmed > 0 && (
        <p className="muted small">
          {link.partner} confirmed {confirmed} fields.
        </p>
      )}
      {link.comments
        .filter((one) => one.text !== '')
        .map(({ at, side, author, about, text }) => (
          <div key={`${at} ${about}`}>
            <div className="muted small">
              {side === 'partner' ? link.partner : author} · <RelativeTime at={at} />
              {about !== '' && ` · ${about}`}
            </div>
            <div>{text}</div>
          </div>
        ))}
      {operator && (
        <div className="stack">
          <Textarea
            label="Answer"
            description="appears on the partner’s page"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autosize
            minRows={2}
          />
          <div>
            <Button
              variant="default"
              disabled={text.trim() === ''}
              loading={answer.isPending}
              onClick={() => answer.mutate(undefined)}
            >
              Send
            </Button>
          </div>
        </div>
      )}
    </div>
  );
}

function Decision({ link }: { link: Detail }) {
  const admin = useMay('admin');
  const [asked, setAsked] = useState(false);
  const revoke = useAct(
    () => call('onboarding.revoke', { link_id: link.link_id }),
    () => 'The link has ended.',
  );
  if (!admin || link.revoked_at !== null) return null;
  return (
    <div className="stack">
      {asked && link.live_at === null && <Approval link={link} onDone={() => setAsked(false)} />}
      <div className="row">
        {link.live_at === null && !asked && <Button onClick={() => setAsked(true)}>Look and approve …</Button>}
        <Sure
          label="Revoke the link"
          title={`Revoke the link of ${link.partner}?`}
          busy={revoke.isPending}
          onSure={() => revoke.mutate(undefined)}
        >
          The partner’s page closes at once; what was set up there stays. To go on, a new link is needed.
        </Sure>
      </div>
    </div>
  );
}

/** Where the bookings go, and how they look, before the brand goes live. */
function Approval({ link, onDone }: { link: Detail; onDone: () => void }) {
  const { integration } = link;
  const anyway = !link.is_complete || link.ready_at === null;
  const brand = useApi('integrations.get', { integration }).data;
  const choices = useApi('destinations.list', {}).data?.items.map(({ name }) => name) ?? [];
  const [chosen, setChosen] = useState<string[]>([]);
  const [nowhere, setNowhere] = useState(false);
  const isNamed = brand !== undefined && brand.deliver.length > 0;
  const approve = useAct(
    () => call('onboarding.approve', { link_id: link.link_id, anyway, ...(!isNamed && { deliver: chosen }) }),
    ({ run_id, deliver, preview }) => {
      onDone();
      const open = deliver.filter((one) => !preview.includes(one));
      return [
        `${integration} is live.`,
        run_id !== null && 'Its first backfill has begun.',
        deliver.length === 0 && 'Nothing is delivered: no destination is named.',
        open.length > 0 && `Its bookings are sent to ${open.join(', ')}.`,
        preview.length > 0 && `For ${preview.join(', ')} they wait until you release them.`,
      ]
        .filter(Boolean)
        .join(' ');
    },
  );
  return (
    <div className="stack">
      {anyway && (
        <Notice
          tone="warn"
          title={link.is_complete ? 'The partner has not said that it is ready' : 'The checklist has gaps'}
        >
          You can approve anyway, if they do not matter for this partner.
        </Notice>
      )}
      <Samples integration={integration} pulls={link.asks.includes('pull')} />
      {isNamed ? (
        <p>
          Delivers to {brand.deliver.join(', ')}
          {brand.lanes.some(({ preview }) => preview) && ', in preview until you release it'}.
        </p>
      ) : (
        <>
          <MultiSelect
            label="Deliver to"
            description="in preview, until you release it"
            data={choices}
            value={chosen}
            onChange={setChosen}
            disabled={nowhere}
          />
          <Checkbox
            label="To nobody, on purpose"
            checked={nowhere}
            onChange={(event) => {
              setNowhere(event.currentTarget.checked);
              setChosen([]);
            }}
          />
        </>
      )}
      <div className="row">
        <Button
          onClick={() => approve.mutate(undefined)}
          loading={approve.isPending}
          disabled={!isNamed && !nowhere && chosen.length === 0}
        >
          {anyway ? 'Approve anyway: go live' : 'Approve: go live'}
        </Button>
      </div>
    </div>
  );
}

/** Three bookings as they would be stored and delivered: from the partner's list, or from what it sent. */
function Samples({ integration, pulls }: { integration: string; pulls: boolean }) {
  const query = useQuery({
    queryKey: ['approval samples', integration],
    queryFn: () => (pulls ? listed(integration) : sent(integration)),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  return (
    <Loaded query={query}>
      {(records) =>
        records.length === 0 ? (
          <Notice tone="warn" title="No booking to show: nothing that would be delivered was seen yet." />
        ) : (
          <>
            <h3>{records.length === 1 ? 'A booking' : `${records.length} bookings`} as they will be delivered</h3>
            {records.map((record) => (
              <JsonText key={JSON.stringify(record)} value={record} label="Booking as it will be delivered" />
            ))}
          </>
        )
      }
    </Loaded>
  );
}

const shown = 3;

async function listed(integration: string): Promise<Json[]> {
  const { records } = await call('integrations.dry_run', { integration });
  return records
    .flatMap((one) => (one.kind === 'record' && one.record !== undefined ? [one.record as Json] : []))
    .slice(0, shown);
}

/** Each report is read for itself, and audited. */
async function sent(integration: string): Promise<Json[]> {
  const { items } = await call('sandbox.list', { integration });
  const records: Json[] = [];
  for (const { report_id } of items) {
    const { outcome } = await call('sandbox.get', { integration, report_id });
    if (outcome.kind === 'record' && outcome.type === 'reservation') records.push(outcome.record as Json);
    if (records.length === shown) break;
  }
  return records;
}
