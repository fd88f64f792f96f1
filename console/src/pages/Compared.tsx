import { Button } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../api/query.tsx';
import type { Comparison } from '../api/types.ts';
import { Notice, RelativeTime } from '../parts/basics.tsx';
import { number, plural, words } from '../parts/format.ts';
import { BrandLink, RecordLink } from '../parts/links.tsx';
import { StartJob } from '../parts/StartJob.tsx';
import { Table } from '../parts/Table.tsx';
import { useMay } from '../shell/session.ts';

const kinds = ['equal', 'waiting', 'behind', 'changed', 'missing', 'only_there', 'not_readable'] as const;
const colors: Record<(typeof kinds)[number], string> = {
  equal: 'var(--good)',
  waiting: 'var(--line-strong)',
  behind: 'var(--accent-fill)',
  changed: 'var(--warn)',
  missing: 'var(--bad)',
  only_there: 'var(--accent)',
  not_readable: 'var(--muted)',
};

/** What the last audit of a destination said: a bar of its records by kind, and the list behind it. */
export function Compared({ destination }: { destination: string }) {
  const operator = useMay('operator');
  const [asked, setAsked] = useState<{ repair: boolean }>();
  const query = useApi('comparisons.list', { destination }, { staleMs: 15_000 });
  const items = query.data?.items ?? [];
  const count = (kind: keyof Comparison['counts']) => items.reduce((sum, { counts }) => sum + counts[kind], 0);
  const repairable = count('behind') + count('changed') + count('missing');
  const differences = items.flatMap((one) => one.differences);
  const last = items.map(({ finished_at }) => finished_at).toSorted()[0] ?? null;
  const reason = items.find((one) => one.reason !== null)?.reason;
  return (
    <div className="stack inset">
      {items.length > 0 && (
        <>
          <div
            role="img"
            aria-label={`${number(count('equal'))} of ${number(count('compared'))} equal`}
            style={{ display: 'flex', height: 10, gap: 1 }}
          >
            {kinds.map((kind) =>
              count(kind) === 0 ? null : (
                <i
                  key={kind}
                  title={`${number(count(kind))} ${words(kind)}`}
                  style={{ flexGrow: count(kind), minWidth: 3, background: colors[kind] }}
                />
              ),
            )}
          </div>
          <p className="muted small">
            Compared <RelativeTime at={last} />: {number(count('equal'))} of {plural(count('compared'), 'record')} equal
            {kinds.slice(1).map((kind) => (count(kind) === 0 ? '' : `, ${number(count(kind))} ${words(kind)}`))}.
          </p>
        </>
      )}
      {reason && <Notice tone="warn" title={`The last audit is not complete: ${reason}`} />}
      {operator && (
        <div className="row">
          <Button size="xs" variant="default" onClick={() => setAsked({ repair: false })}>
            Compare …
          </Button>
          {repairable > 0 && (
            <Button size="xs" variant="default" onClick={() => setAsked({ repair: true })}>
              Repair …
            </Button>
          )}
        </div>
      )}
      {asked && (
        <StartJob
          request={{ operation: 'audit', destination, ...(asked.repair && { repair: true }) }}
          lead={
            asked.repair
              ? 'Everything is compared again. What is behind, changed or missing there is sent again, as ordinary deliveries.'
              : 'What the destination holds is compared with what would be sent to it now. Nothing is written.'
          }
          onClose={() => setAsked(undefined)}
        />
      )}
      {differences.length > 0 && (
        <Table
          label={`Differences of ${destination}`}
          narrow
          rows={differences}
          rowKey={({ integration, type, id, kind }) => `${integration} ${type} ${id} ${kind}`}
          columns={[
            {
              head: 'Record',
              cell: ({ integration, type, id, version_here }) => (
                <>
                  {version_here === null ? id : <RecordLink integration={integration} type={type} id={id} lead />}
                  <div className="muted small">
                    <BrandLink name={integration} />
                  </div>
                </>
              ),
            },
            { head: 'There', cell: ({ kind, reason: why }) => `${words(kind)}${why ? `: ${words(why)}` : ''}` },
            { head: 'Where', phone: 'line', cell: ({ paths = [] }) => paths.join(', ') },
          ]}
        />
      )}
    </div>
  );
}
