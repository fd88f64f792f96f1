import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, part } from '../api/client.ts';
import type { SandboxReport, SandboxRow } from '../api/types.ts';
import { Ago, Card, Empty, Loaded, meaning, Notice, State } from '../parts/basics.tsx';
import { JsonText, Notes } from '../parts/data.tsx';
import { words } from '../parts/format.ts';

/** What the partner's developer was told by the sandbox: the same reports, for whoever helps them. */
export function SandboxCard({ integration }: { integration: string }) {
  const [opened, setOpened] = useState<string>();
  const path = `/integrations/${part(integration)}/sandbox-reports`;
  const query = useQuery({
    queryKey: ['sandbox', integration],
    queryFn: ({ signal }) => get<{ items: SandboxRow[] }>(path, undefined, signal),
    refetchInterval: 30_000,
  });
  return (
    <Card title="Sandbox" aside="what the partner’s developer tried" flush>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty small title="Nothing was tried yet">
              The sandbox address takes anything, touches nothing, and answers with a report that shows here too.
            </Empty>
          ) : (
            <div className="table-wrap tall">
              <table className="list folds">
                <thead>
                  <tr>
                    <th scope="col">Event</th>
                    <th scope="col">Signature</th>
                    <th scope="col">Live it would get</th>
                    <th scope="col">Tried</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((report) => (
                    <Row key={report.report_id} report={report} onOpen={() => setOpened(report.report_id)} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
      <Modal opened={opened !== undefined} onClose={() => setOpened(undefined)} title="Report of the sandbox" size="xl">
        {opened !== undefined && <Report path={`${path}/${part(opened)}`} />}
      </Modal>
    </Card>
  );
}

function Row({ report, onOpen }: { report: SandboxRow; onOpen: () => void }) {
  const { status, code, detail } = report.would_answer;
  return (
    <tr>
      <td>
        <button type="button" className="link name" onClick={onOpen}>
          {report.event ?? 'no envelope'}
        </button>
        <div className="muted small mono">{report.event_id}</div>
      </td>
      <td data-label="Signature">
        <State of={report.signature.right ? 'done' : 'failed'} label={report.signature.right ? 'Right' : 'Wrong'} />
      </td>
      <td className="whole">
        <State of={status < 300 ? 'done' : 'failed'} label={String(status)} />{' '}
        <span className="small muted">{code ?? detail}</span>
      </td>
      <td>
        <Ago at={report.at} />
      </td>
    </tr>
  );
}

/** Read only when it is opened: it may hold what somebody sent, and reading that is audited. */
function Report({ path }: { path: string }) {
  const query = useQuery({
    queryKey: ['sandbox-report', path],
    queryFn: ({ signal }) => get<SandboxReport>(path, undefined, signal),
    refetchOnWindowFocus: false,
  });
  return <Loaded query={query}>{(report) => <Told report={report} />}</Loaded>;
}

function Told({ report }: { report: SandboxReport }) {
  const { would_answer: answer, signature, body, envelope } = report;
  return (
    <div className="stack">
      <Notice tone={answer.status < 300 ? 'good' : 'bad'} title={`Live it would get ${answer.status}`}>
        {answer.detail} {answer.code && meaning(answer.code)?.next}
      </Notice>
      <Notice tone={signature.right ? 'good' : 'bad'} title={`The signature is ${signature.right ? 'right' : 'wrong'}`}>
        {signature.explanation ?? `Over ${body.bytes} bytes of body.`}
        {signature.skew_s !== undefined && ` The sender’s clock is ${signature.skew_s} s off.`}
      </Notice>
      {(body.problem || envelope.length > 0) && (
        <Notice tone="bad" title="What is wrong with the body">
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
          <h3>The {outcome.type} it would have made</h3>
          {outcome.notes.length > 0 && <Notes notes={outcome.notes} />}
          <JsonText value={outcome.record} label="The record it would have made" />
        </>
      );
    case 'dead_letter':
      return (
        <Notice tone="warn" title={outcome.message}>
          It would be accepted and become a dead letter here. {meaning(outcome.code)?.next}
        </Notice>
      );
    case 'fetched_first':
      return <Notice tone="calm" title={`Reservation ${outcome.reservation_id} would be fetched from the API first`} />;
    default:
      return <Notice tone="calm" title={`No record: ${words(outcome.reason)}`} />;
  }
}
