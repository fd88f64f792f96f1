import { Button, Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { Difference, JobPreview, JobRequest } from '../api/types.ts';
import { Facts, Loaded } from './basics.tsx';
import { DialogButtons } from './DialogButtons.tsx';
import { DiffTable } from './data.tsx';
import { number, plural } from './format.ts';
import { RecordLink } from './links.tsx';

/** The names of each operation, and of the things that it processes. */
export const operations = {
  replay: { verb: 'Replay', title: 'Replay dead letters', one: 'dead letter' },
  resend: { verb: 'Resend', title: 'Resend records', one: 'record' },
  audit: { verb: 'Audit', title: 'Compare what a destination holds', one: 'record' },
  reprocess: { verb: 'Reprocess', title: 'Reprocess stored payloads', one: 'reservation' },
} as const;

/** Shows what a job would touch before it starts. Its page then shows the progress. */
export function StartJob(props: { request: JobRequest; lead: string; onClose: () => void }) {
  const { request } = props;
  const { verb, title, one } = operations[request.operation];
  const preview = useApi('jobs.preview', request, { onFocus: false, staleMs: 60_000, retry: false });
  const navigate = useNavigate();
  const start = useAct(
    () => call('jobs.start', request),
    ({ job_id }) => {
      void navigate({ to: '/jobs/$id', params: { id: job_id } });
      return undefined;
    },
  );
  return (
    <Modal opened onClose={props.onClose} title={title} size="lg">
      <div className="stack">
        <p className="muted">{props.lead}</p>
        <Loaded query={preview}>
          {(seen) => (
            <>
              <Counts preview={seen} one={one} />
              <Samples preview={seen} of={request.operation === 'replay' ? 'letters' : 'records'} />
              <DialogButtons onCancel={props.onClose}>
                <Button
                  onClick={() => start.mutate(undefined)}
                  loading={start.isPending}
                  disabled={seen.total === 0}
                  data-autofocus
                >
                  {verb} {plural(seen.total, one)}
                </Button>
              </DialogButtons>
            </>
          )}
        </Loaded>
      </div>
    </Modal>
  );
}

export function Counts({ preview, one }: { preview: JobPreview; one: string }) {
  const counts = preview.counts.filter(({ count }) => count > 0);
  return (
    <Facts
      facts={[
        ['In total', plural(preview.total, one)],
        ...(preview.looked_at === null
          ? []
          : [['Tried here', `the first ${number(preview.looked_at)}, of which`] as const]),
        ...counts.map(({ label, count }) => [label, number(count)] as const),
      ]}
    />
  );
}

export function Samples({ preview, of }: { preview: JobPreview; of: 'records' | 'letters' }) {
  if (preview.samples.length === 0) return null;
  return (
    <div>
      <h3>{plural(preview.samples.length, 'sample')}</h3>
      <ul className="samples">
        {preview.samples.map(({ integration, id, text, diff }) => (
          <li key={`${integration} ${id} ${text}`}>
            {of === 'letters' ? (
              <strong>{id}</strong>
            ) : (
              <RecordLink integration={integration} type={text === 'guest' ? 'guest' : 'reservation'} id={id} newTab />
            )}{' '}
            <span className="muted">
              {integration}
              {text && `: ${text}`}
            </span>
            {Array.isArray(diff) && diff.length > 0 && (
              <details className="fold">
                <summary>{plural(diff.length, 'changed field')}</summary>
                <DiffTable diff={diff as unknown as Difference[]} />
              </details>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
