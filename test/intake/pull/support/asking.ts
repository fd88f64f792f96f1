import assert from 'node:assert/strict';
import { bookings } from './partner.ts';
import { type Documents, sync } from './runtime.ts';
import { setUpPulls } from './set-up.ts';

export const fortnight = { from: '2026-03-01', to: '2026-03-14' };
export const list = { json: { reservations: bookings(3, '2026-03-02') } };

/** The usual set-up, and one complete sync of a partner that always answers the same list. */
export function setUpAsking() {
  const { runtime, partnerOf } = setUpPulls();
  /** The requests that the partner received. */
  async function asked(
    integration: string,
    documents: Partial<Documents>,
    request: Parameters<typeof sync>[2] = fortnight,
  ) {
    const partner = await partnerOf(() => list);
    const ports = runtime.ports({ integration, baseUrl: partner.url, ...documents });
    const result = await sync(ports, integration, request);
    assert.equal(result.state, 'complete', JSON.stringify(result));
    return { requests: partner.requests };
  }
  return { asked, runtime, partnerOf };
}
