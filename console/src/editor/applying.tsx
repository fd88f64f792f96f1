import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call, Problem } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { DocumentKind, Mistake } from '../api/types.ts';
import { Notice } from '../parts/basics.tsx';
import { plural } from '../parts/format.ts';
import { LineDiff } from '../parts/LineDiff.tsx';
import { ChangedCases } from './ChangedCases.tsx';
import { fileOf } from './file-name.ts';
import { OutdatedText } from './OutdatedText.tsx';

interface Refused {
  readonly text: string;
  readonly mistakes: readonly (Mistake & { readonly file: string })[];
}
/** The version in force that a text was made from. */
interface Replaced {
  readonly source: string;
  readonly version: number;
}
interface Asked {
  readonly text: string;
  /** Undefined for a new document. */
  readonly before: Replaced | undefined;
}
interface Applied {
  readonly version: number;
  readonly text: string;
  /** What was in force before; undefined for a new document. */
  readonly before: string | undefined;
}

/**
 * Puts texts of one document in force. It keeps the mistakes of a refused apply, for the editor, and the text that the
 * last apply replaced, to undo it.
 */
export function useApplying(kind: DocumentKind, name: string, onApplied: () => void = () => undefined) {
  const [refused, setRefused] = useState<Refused>();
  const [applied, setApplied] = useState<Applied>();
  const [changesCases, setChangesCases] = useState<Asked>();
  const [outdated, setOutdated] = useState<Asked>();
  const apply = useAct(
    async (asked: Asked & { accept?: boolean }) => {
      const { text, before, accept = false } = asked;
      setRefused(undefined);
      const replaces = before?.version ?? 0;
      return call('documents.apply', { kind, name, text, accept_cases: accept, replaces }).catch((error: unknown) => {
        if (error instanceof Problem && error.code === 'documents.case_changed') setChangesCases(asked);
        if (error instanceof Problem && error.code === 'documents.outdated') setOutdated(asked);
        setRefused(refusedBy(error, text));
        throw error;
      });
    },
    ({ version }, { text, before }) => {
      setApplied({ version, text, before: before?.source });
      setChangesCases(undefined);
      setOutdated(undefined);
      onApplied();
      return `${name} is in force as version ${version}.`;
    },
  );
  return {
    apply: (text: string, before: Replaced | undefined) => apply.mutate({ text, before }),
    busy: apply.isPending,
    refused,
    applied,
    /** Asks before kept cases or a newer version are replaced. Every page that applies something shows it. */
    dialog: (
      <>
        {changesCases && (
          <ChangedCases
            connector={name}
            text={changesCases.text}
            busy={apply.isPending}
            onAccept={() => apply.mutate({ ...changesCases, accept: true })}
            onClose={() => setChangesCases(undefined)}
          />
        )}
        {outdated && (
          <OutdatedText
            kind={kind}
            name={name}
            text={outdated.text}
            busy={apply.isPending}
            onReplace={(version) => {
              setOutdated(undefined);
              apply.mutate({ ...outdated, before: { source: outdated.before?.source ?? '', version } });
            }}
            onClose={() => setOutdated(undefined)}
          />
        )}
      </>
    ),
    undo: () =>
      applied?.before !== undefined &&
      apply.mutate({ text: applied.before, before: { source: applied.text, version: applied.version } }),
  };
}

function refusedBy(error: unknown, text: string): Refused | undefined {
  if (!(error instanceof Problem) || !Array.isArray(error.body.mistakes)) return undefined;
  // The API's description leaves the extra fields of a problem open; mistakes have the form that documents.validate describes.
  return { text, mistakes: error.body.mistakes as Refused['mistakes'] };
}

/** The mistakes of a refused apply that are in the document itself, as long as its text has not changed since. */
export function ownMistakes(kind: DocumentKind, name: string, text: string, refused: Refused | undefined) {
  if (refused?.text !== text) return [];
  return refused.mistakes.filter(({ file }) => file === fileOf(kind, name));
}

/** Why the last apply was refused; mistakes in other documents link to them. */
export function RefusedNotice({
  kind,
  name,
  refused,
}: {
  kind: DocumentKind;
  name: string;
  refused: Refused | undefined;
}) {
  const documents = useApi('documents.list', {}, { staleMs: 10_000 }).data?.items ?? [];
  if (refused === undefined) return null;
  const elsewhere = refused.mistakes.filter(({ file }) => file !== fileOf(kind, name));
  return (
    <Notice tone="bad" role="alert" title={`Not applied: ${plural(refused.mistakes.length, 'mistake')}`}>
      {elsewhere.length < refused.mistakes.length && <div>Those in this document are listed under the editor.</div>}
      {elsewhere.map((mistake) => {
        const other = documents.find((one) => fileOf(one.kind, one.name) === mistake.file);
        const place = `${mistake.file}, line ${mistake.line}`;
        return (
          <div key={`${mistake.file} ${mistake.line} ${mistake.message}`}>
            {other ? (
              <Link
                to="/documents/$kind/$name"
                params={{ kind: other.kind, name: other.name }}
                search={{ line: String(mistake.line) }}
              >
                {place}
              </Link>
            ) : (
              place
            )}
            : {mistake.message}
          </div>
        );
      })}
    </Notice>
  );
}

/** What the last apply changed, and the way back. */
export function AppliedNotice(props: {
  kind: DocumentKind;
  name: string;
  applied: Applied | undefined;
  onUndo: () => void;
  busy: boolean;
}) {
  const { applied, kind, name } = props;
  const reprocessable = kind === 'connector' || kind === 'integration';
  const impact = useApi('documents.impact', { kind, name }, { enabled: applied !== undefined && reprocessable });
  if (applied?.before === undefined || applied.before === applied.text) return null;
  return (
    <Notice tone="good" role="status" title={`Version ${applied.version} is in force`}>
      <div className="stack">
        <LineDiff before={applied.before} after={applied.text} label="What this version changed" />
        <div className="row">
          <Button size="xs" variant="default" onClick={props.onUndo} loading={props.busy}>
            Undo
          </Button>
          {impact.data?.integrations.slice(0, 5).map((brand) => (
            <Link key={brand} to="/integrations/$name" params={{ name: brand }} search={{ job: 'reprocess' }}>
              Reprocess {brand} …
            </Link>
          ))}
        </div>
      </div>
    </Notice>
  );
}

/** Before an apply: how many brands and records it concerns. */
export function ImpactNotice({ kind, name }: { kind: DocumentKind; name: string }) {
  const { data } = useApi('documents.impact', { kind, name }, { staleMs: 10_000 });
  if (data === undefined) return null;
  const { integrations, records } = data;
  const names = integrations.length > 5 ? `${integrations.slice(0, 5).join(', ')}, …` : integrations.join(', ');
  return (
    <Notice
      tone="calm"
      title={
        integrations.length === 0
          ? 'Applying this concerns no connected brand'
          : `Applying this concerns ${plural(integrations.length, 'brand')} with ${plural(records.reservation, 'reservation')} and ${plural(records.guest, 'guest')}`
      }
    >
      {names && `${names}. `}
      {integrations.length > 0 &&
        (kind === 'connector' || kind === 'integration') &&
        'What arrives from then on uses it. Stored reservations change when they arrive again, or when you reprocess the brand.'}
    </Notice>
  );
}
