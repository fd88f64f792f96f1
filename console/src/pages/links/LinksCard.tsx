import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/query.tsx';
import type { OnboardingRow } from '../../api/types.ts';
import { Card, Empty, RelativeTime, State } from '../../parts/basics.tsx';
import { Table } from '../../parts/Table.tsx';
import { useMay } from '../../shell/session.ts';
import { LinkDetail } from './LinkDetail.tsx';
import { LinkForm } from './LinkForm.tsx';

/** The onboarding links of a brand: who connects it, and how far they are. */
export function LinksCard({ integration }: { integration: string }) {
  const admin = useMay('admin');
  const [creating, setCreating] = useState(false);
  const [opened, setOpened] = useState<string>();
  const query = useApi('onboarding.list', { integration }, { everyMs: 10_000 });
  return (
    <Card
      title="Onboarding links"
      aside={
        admin && (
          <Button variant="default" size="xs" onClick={() => setCreating(true)}>
            Create a link …
          </Button>
        )
      }
      flush
    >
      <Table
        label="Onboarding links"
        rows={query.data?.items}
        error={query.error}
        rowKey={({ link_id }) => link_id}
        empty={
          <Empty small title="No link yet">
            A link lets the partner’s developer connect this brand alone: address, secret, tests and a checklist, on one
            page.
          </Empty>
        }
        columns={[
          {
            head: 'Partner',
            cell: ({ link_id, partner }) => (
              <button type="button" className="link name" onClick={() => setOpened(link_id)}>
                {partner}
              </button>
            ),
          },
          { head: 'State', cell: (link) => <LinkState link={link} /> },
          {
            head: 'Checklist',
            phone: 'labelled',
            cell: ({ checks }) => `${checks.filter(({ state }) => state === 'done').length} of ${checks.length}`,
          },
          { head: 'Expires', phone: 'labelled', cell: ({ expires_at }) => <RelativeTime at={expires_at} /> },
        ]}
      />
      <Modal opened={creating} onClose={() => setCreating(false)} title="Create an onboarding link" size="lg">
        <LinkForm integration={integration} />
      </Modal>
      <Modal opened={opened !== undefined} onClose={() => setOpened(undefined)} title="Onboarding" size="xl">
        {opened !== undefined && <LinkDetail id={opened} />}
      </Modal>
    </Card>
  );
}

function LinkState({ link: { revoked_at, is_expired, live_at, ready_at, is_opened } }: { link: OnboardingRow }) {
  if (revoked_at !== null) return <State of="revoked" tone="calm" />;
  if (is_expired) return <State of="expired" tone="calm" />;
  if (live_at !== null) return <State of="live" tone="calm" />;
  if (ready_at !== null) return <State of="ready" tone="warn" label="Ready: waits for you" />;
  return <State of={is_opened ? 'opened' : 'not opened'} tone="info" />;
}
