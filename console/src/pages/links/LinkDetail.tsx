import { Button, Textarea } from '@mantine/core';
import { useState } from 'react';
import { en } from '../../../partner/texts/en.ts';
import { fill } from '../../../partner/texts.ts';
import { call } from '../../api/client.ts';
import { useAct, useApi } from '../../api/query.tsx';
import type { OnboardingDetail as Detail } from '../../api/types.ts';
import { Ago, Loaded, Notice, State } from '../../parts/basics.tsx';
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
        .map(({ at, side, author, about, text: said }) => (
          <div key={`${at} ${about}`}>
            <div className="muted small">
              {side === 'partner' ? link.partner : author} · <Ago at={at} />
              {about !== '' && ` · ${about}`}
            </div>
            <div>{said}</div>
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
  const anyway = !link.is_complete || link.ready_at === null;
  const approve = useAct(
    () => call('onboarding.approve', { link_id: link.link_id, anyway }),
    () => `${link.integration} is live. Deliveries in preview wait until you release them.`,
  );
  const revoke = useAct(
    () => call('onboarding.revoke', { link_id: link.link_id }),
    () => 'The link has ended.',
  );
  if (!admin || link.revoked_at !== null) return null;
  return (
    <div className="stack">
      {link.live_at === null && anyway && (
        <Notice
          tone="warn"
          title={link.is_complete ? 'The partner has not said that it is ready' : 'The checklist has gaps'}
        >
          You can approve anyway, if they do not matter for this partner.
        </Notice>
      )}
      <div className="row">
        {link.live_at === null && (
          <Button onClick={() => approve.mutate(undefined)} loading={approve.isPending}>
            {anyway ? 'Approve anyway: go live' : 'Approve: go live'}
          </Button>
        )}
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
