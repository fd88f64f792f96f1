import { Pagination } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Previewed } from '../api/types.ts';
import { Card, Empty, Failure, meaning, Notice, State } from '../parts/basics.tsx';
import { JsonText, Notes } from '../parts/data.tsx';
import { plural } from '../parts/format.ts';

/**
 * The canonical records that a sample becomes, with what was cleaned and what is not mapped. `linked` draws a record beside its raw
 * one.
 */
export function Mapped(props: {
  preview: Previewed | undefined;
  error: Error | null;
  linked?: (record: Previewed['records'][number]) => ReactNode;
}) {
  const { preview, error, linked } = props;
  const [wanted, setWanted] = useState(1);
  if (error) return <Failure error={error} />;
  if (!preview) return null;
  const at = Math.min(wanted, Math.max(1, preview.records.length));
  const shown = preview.records[at - 1];
  const good = preview.records.filter(({ kind }) => kind === 'record').length;
  const slips = <Slips preview={preview} />;
  return (
    <>
      <Card
        title="Canonical records"
        aside={`${good} of ${plural(preview.records.length, 'record')} valid, ${preview.total} in the sample`}
      >
        <div className="stack">
          {preview.mistakes.length > 0 && (
            <Notice tone="bad" title={`${plural(preview.mistakes.length, 'mistake')} in the connector`}>
              They are marked in the editor.
            </Notice>
          )}
          {preview.problem && (
            <Notice tone="bad" title={preview.problem.message}>
              {meaning(preview.problem.code)?.next}
            </Notice>
          )}
          {preview.records.length > 1 && (
            <Pagination
              size="sm"
              total={preview.records.length}
              value={at}
              onChange={setWanted}
              siblings={1}
              getItemProps={(page) => ({ 'aria-label': `Record ${page}` })}
              getControlProps={(control) => ({ 'aria-label': `${control} record` })}
            />
          )}
          {shown === undefined
            ? preview.mistakes.length === 0 && !preview.problem && <Empty title="The sample has no records" />
            : !linked && <One record={shown} />}
          {shown && linked && <Verdict record={shown} />}
          {slips}
        </div>
      </Card>
      {shown && linked?.(shown)}
      {shown && linked && (shown.notes ?? []).length > 0 && (
        <Card title="Cleaned or derived">
          <Notes notes={shown.notes ?? []} />
        </Card>
      )}
    </>
  );
}

/** What the whole sample shows about the mapping. */
function Slips({ preview: { unmatched, repeated } }: { preview: Previewed }) {
  return (
    <>
      {unmatched.length > 0 && (
        <Notice tone="warn" title={`${plural(unmatched.length, 'path')} of the mapping found nothing in the sample`}>
          <span className="small mono">{unmatched.map(({ at, path }) => `${at}: ${path}`).join(', ')}</span>
        </Notice>
      )}
      {repeated.length > 0 && (
        <Notice tone="warn" title={`${plural(repeated.length, 'id')} in several records; a run keeps the last one`}>
          <span className="small mono">{repeated.map(({ id, times }) => `${id} (${times})`).join(', ')}</span>
        </Notice>
      )}
    </>
  );
}

/** Whether it becomes a record, and why not. */
function Verdict({ record }: { record: Previewed['records'][number] }) {
  if (record.kind === 'dead') {
    return (
      <Notice tone="bad" title={record.message ?? 'It would become a dead letter'}>
        With this mapping it would become a dead letter. Correct the mapping until it is valid.
      </Notice>
    );
  }
  if (record.kind === 'dropped') {
    return (
      <Notice tone="warn" title="A transform rule drops it">
        {record.message}
      </Notice>
    );
  }
  return (
    <div className="row">
      <State of="complete" label="Valid" />
      {record.id && <code>{record.id}</code>}
    </div>
  );
}

function One({ record }: { record: Previewed['records'][number] }) {
  const notes = record.notes ?? [];
  const unmapped = record.unmapped ?? [];
  return (
    <>
      <Verdict record={record} />
      {record.record !== undefined && <JsonText value={record.record} label="Canonical record" />}
      {notes.length > 0 && (
        <div>
          <h3>Cleaned or derived</h3>
          <Notes notes={notes} />
        </div>
      )}
      {unmapped.length > 0 && (
        <div>
          <h3>Not mapped</h3>
          <p className="small mono">{unmapped.join(', ')}</p>
        </div>
      )}
    </>
  );
}
