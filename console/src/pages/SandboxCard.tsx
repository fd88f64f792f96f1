import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../api/query.tsx';
import type { SandboxReport, SandboxRow } from '../api/types.ts';
import { Card, Empty, Loaded, meaning, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { sandboxAnswer, signatureOf } from '../parts/claims.ts';
import { JsonText, Notes } from '../parts/data.tsx';
import { words } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';

/** What the partner's developer sent to the sandbox, with the reports that they got. */
export function SandboxCard({ integration }: { integration: string }) {
  const [opened, setOpened] = useState<string>();
  const query = useApi('sandbox.list', { integration }, { everyMs: 30_000 });
  return (
    <Card title="Sandbox" aside="tests by the partner’s developer" flush>
      <Table
        label="Sandbox reports"
        tall
        rows={query.data?.items}
        error={query.error}
        rowKey={({ report_id }) => report_id}
        empty={
          <Empty small title="Nothing was sent yet">
            The sandbox address accepts anything, changes nothing, and answers with a report that also appears here.
          </Empty>
        }
        columns={[
          {
            head: 'Event',
            cell: ({ report_id, event, event_id }) => (
              <>
                <button type="button" className="link name" onClick={() => setOpened(report_id)}>
                  {event ?? 'no envelope'}
                </button>
                <div className="muted small mono">{event_id}</div>
              </>
            ),
          },
          { head: 'Signature', phone: 'labelled', cell: ({ signature }) => <Signature right={signature.right} /> },
          { head: 'Live answer', phone: 'line', cell: ({ would_answer }) => <LiveAnswer answer={would_answer} /> },
          { head: 'Sent', cell: ({ at }) => <RelativeTime at={at} /> },
        ]}
      />
      <Modal opened={opened !== undefined} onClose={() => setOpened(undefined)} title="Sandbox report" size="xl">
        {opened !== undefined && <Report integration={integration} id={opened} />}
      </Modal>
    </Card>
  );
}

function Signature({ right }: { right: boolean }) {
  return <State of={right ? 'done' : 'failed'} label={right ? 'Valid' : 'Invalid'} />;
}

function LiveAnswer({ answer: { status, code, detail } }: { answer: SandboxRow['would_answer'] }) {
  return (
    <>
      <State of={status < 300 ? 'done' : 'failed'} label={String(status)} />{' '}
      <span className="small muted">{code ?? detail}</span>
    </>
  );
}

/** Read only when it is opened: it may contain guest data, and each reading is audited. */
function Report({ integration, id }: { integration: string; id: string }) {
  const query = useApi('sandbox.get', { integration, report_id: id }, { onFocus: false });
  return <Loaded query={query}>{(report) => <Findings report={report} />}</Loaded>;
}

function Findings({ report }: { report: SandboxReport }) {
  const { would_answer: answer, signature, body, envelope } = report;
  const signed = signatureOf(signature.right);
  return (
    <div className="stack">
      <Notice tone={sandboxAnswer(report).tone} title={sandboxAnswer(report).text}>
        {answer.detail} {answer.code && meaning(answer.code)?.next}
      </Notice>
      <Notice tone={signed.tone} title={signed.text}>
        {signature.explanation ?? `Computed over ${body.bytes} bytes of body.`}
        {signature.skew_s !== undefined && ` The sender’s clock is ${signature.skew_s} s off.`}
      </Notice>
      {(body.problem || envelope.length > 0) && (
        <Notice tone="bad" title="Problems in the body">
          {body.problem && <div>{body.problem}</div>}
          {envelope.map(({ pointer, detail }) => (
            <div key={`${pointer} ${detail}`}>
              <code>{pointer === '' ? '/' : pointer}</code> {detail}
            </div>
          ))}
        </Notice>
      )}
      {report.events?.map((one) => (
        <div key={one.event_id} className="stack">
          <div className="muted small">
            {one.event} <code>{one.event_id}</code>
          </div>
          <Became outcome={one.outcome} />
        </div>
      )) ?? <Became outcome={report.outcome} />}
    </div>
  );
}

function Became({ outcome }: { outcome: SandboxReport['outcome'] }) {
  switch (outcome.kind) {
    case 'record':
      return (
        <>
          <h3>Resulting {outcome.type}</h3>
          {outcome.notes.length > 0 && <Notes notes={outcome.notes} />}
          <JsonText value={outcome.record} label="Resulting record" />
        </>
      );
    case 'dead_letter':
      return (
        <Notice tone="warn" title={outcome.message}>
          The live endpoint would accept it, and it would become a dead letter. {meaning(outcome.code)?.next}
        </Notice>
      );
    case 'fetched_first':
      return (
        <Notice
          tone="calm"
          title={`${outcome.guest_id === undefined ? `Reservation ${outcome.reservation_id}` : `Guest ${outcome.guest_id}`} would be fetched from the partner’s API first`}
        />
      );
    default:
      return <Notice tone="calm" title={`No record: ${words(outcome.reason)}`} />;
  }
}
