import { ActionIcon, CopyButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { fields, listNames } from '../../../src/core/canonical/fields.ts';
import type { Difference, Json, Note } from '../api/types.ts';
import { fieldName, shown, words } from './format.ts';
import { icons } from './icons.tsx';
import { Table } from './Table.tsx';

const ownFields = Object.values(fields).flatMap((table) => Object.keys(table).filter((name) => name !== 'extra'));
const order = [...ownFields, ...listNames, 'extra'];
const placeOf = (key: string): number => (order.indexOf(key) === -1 ? order.length : order.indexOf(key));

/** Fields in the order of the schema; PostgreSQL's jsonb does not keep their order. */
export function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => placeOf(one) - placeOf(other));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
}

/** JSON in colour. It is rendered as text, so that a payload cannot inject markup. */
export function JsonText({ value, label }: { value: Json | undefined; label: string }) {
  const text = JSON.stringify(inOrder(value ?? null), null, 2);
  const pieces: ReactNode[] = [];
  let last = 0;
  for (const match of text.matchAll(
    /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g,
  )) {
    const kind = match[2] !== undefined ? 'k' : match[1] !== undefined ? 's' : 'n';
    pieces.push(text.slice(last, match.index));
    pieces.push(
      <span key={match.index} className={kind}>
        {match[1] ?? match[0]}
      </span>,
    );
    last = match.index + (match[1] ?? match[0]).length;
  }
  pieces.push(text.slice(last));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label={label} className="scrolls">
      <pre className="json">{pieces}</pre>
    </section>
  );
}

export function DiffTable({ diff }: { diff: readonly Difference[] }) {
  return (
    <Table
      label="Changed fields"
      look="diff"
      rows={diff}
      rowKey={({ path }) => path}
      columns={[
        {
          head: 'Field',
          cell: ({ path }) => <span title={path}>{path === '' ? 'whole record' : fieldName(path)}</span>,
        },
        { head: 'Before', cell: ({ before }) => (before === undefined ? nothing : <del>{shown(before)}</del>) },
        { head: 'After', cell: ({ after }) => (after === undefined ? nothing : <ins>{shown(after)}</ins>) },
      ]}
    />
  );
}
const nothing = <span className="muted">nothing</span>;

export function Notes({ notes }: { notes: readonly Note[] }) {
  return (
    <ul className="notes">
      {notes.map((note) => (
        <li key={`${note.step} ${note.field} ${note.code}`}>
          <span className="field" title={note.field}>
            {fieldName(note.field)}
          </span>
          <span>
            {note.reason} <span className="muted">({words(note.step)})</span>
            {(note.before !== undefined || note.after !== undefined) && (
              <span className="change">
                <br />
                <del>{shown(note.before)}</del> → {shown(note.after)}
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A value with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <div className="secret">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </section>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <ActionIcon variant="default" size={36} onClick={copy} aria-label={copied ? 'Copied' : `Copy ${label}`}>
            {copied ? icons.done : icons.copy}
          </ActionIcon>
        )}
      </CopyButton>
    </div>
  );
}
