import { Pagination } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Previewed } from '../api/types.ts';
import { Card, Empty, Failure, meaning, Notice, State } from '../parts/basics.tsx';
import { recordsValid } from '../parts/claims.ts';
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
  const { shown, pager } = usePager(preview?.records ?? []);
  if (error) return <Failure error={error} />;
  if (!preview) return null;
  const slips = <Slips preview={preview} />;
  return (
    <>
      <Card
        title="Canonical records"
        aside={preview.records.length > 0 && `${recordsValid(preview).text}, ${preview.total} in the sample`}
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
          {pager}
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

type Shown = Pick<Previewed['records'][number], 'kind' | 'id' | 'record' | 'notes' | 'unmapped' | 'message'>;

/** Canonical records, one at a time. `label` says more about one of them. */
export function Records<One extends Shown>(props: { records: readonly One[]; label: (record: One) => ReactNode }) {
  const { shown, pager } = usePager(props.records);
  return (
    shown && (
      <div className="stack">
        {pager}
        {props.label(shown)}
        <Detail record={shown} />
      </div>
    )
  );
}

/** The chosen one of several records, and the buttons to choose another. */
function usePager<One>(records: readonly One[]) {
  const [wanted, setWanted] = useState(1);
  const at = Math.min(wanted, Math.max(1, records.length));
  const pager = records.length > 1 && (
    <Pagination
      size="sm"
      total={records.length}
      value={at}
      onChange={setWanted}
      siblings={1}
      getItemProps={(page) => ({ 'aria-label': `Record ${page}` })}
      getControlProps={(control) => ({ 'aria-label': `${control} record` })}
    />
  );
  return { shown: records[at - 1], pager };
}

/** What the whole sample shows about the mapping. */
function Slips({ preview: { unmatched, repeated, filled, unlisted } }: { preview: Previewed }) {
  const gaps = filled.filter((rate) => rate.filled < rate.of).sort((a, b) => a.filled / a.of - b.filled / b.of);
  return (
    <>
      {unlisted.length > 0 && (
        <Notice tone="warn" title={`${plural(unlisted.length, 'status', 'statuses')} without a meaning`}>
          Their records are “other”. Ask the partner what they mean, and add them to values.status:{' '}
          <span className="small mono">{unlisted.map(({ status, times }) => `${status} (${times})`).join(', ')}</span>
        </Notice>
      )}
      {gaps.length > 0 && (
        <Notice tone="calm" title="Fields that the sample does not fill everywhere">
          <span className="small mono">
            {gaps.map((rate) => `${rate.field} ${rate.filled} of ${rate.of}`).join(', ')}
          </span>
        </Notice>
      )}
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
function Verdict({ record }: { record: Shown }) {
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
      <State of="record" label="Becomes a record" />
      {record.id && <code>{record.id}</code>}
    </div>
  );
}

function One({ record }: { record: Shown }) {
  return (
    <>
      <Verdict record={record} />
      <Detail record={record} />
    </>
  );
}

function Detail({ record }: { record: Shown }) {
  const notes = record.notes ?? [];
  const unmapped = record.unmapped ?? [];
  return (
    <>
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
