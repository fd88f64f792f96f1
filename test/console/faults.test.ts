import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cause, faultsOf } from '../../console/src/parts/faults.ts';

const finding = (cause: string, message: string) =>
  ({ kind: 'x', subject: '', state: 'failing', cause, message }) as const;
const cause = (name: string): Cause => ({
  ...{ incident_id: name, cause: name, kind: 'destination_away', title: name, message: name, severity: 'critical' },
  ...{ since: '2031-01-01T00:00:00Z', acknowledged_by: null, brands: 1, integrations: ['grand'], waiting: 0 },
  ...{ dead_letters: 0, bookings: 0, everything: false },
});

test('what concerns the whole service is alone at the top, also before it is an alert', () => {
  const causes = ['destination:a', 'destination:b'].map(cause);
  const worker = finding('service:worker nodes', 'No worker node is running.');
  const health = ['grand', 'quay'].map((integration) => ({
    integration,
    findings: [worker, finding(`pull:${integration}`, 'The last run failed.')],
  }));
  const { everywhere, shown, folded, count } = faultsOf({ health, causes });
  assert.deepEqual(
    everywhere.found.map(({ message, brands }) => [message, brands]),
    [['No worker node is running.', ['grand', 'quay']]],
  );
  assert.deepEqual([everywhere.causes, shown.causes, shown.found], [[], [], []]);
  assert.deepEqual([folded.causes.length, folded.found.length, count], [2, 2, 5]);
});

test('four are in view, the known ones first; the rest is folded', () => {
  const health = ['grand', 'quay'].map((integration) => ({
    integration,
    findings: [finding(`pull:${integration}`, `The last run of ${integration} failed.`)],
  }));
  const { shown, folded } = faultsOf({
    health,
    causes: ['destination:a', 'destination:b', 'destination:c'].map(cause),
  });
  assert.deepEqual([shown.causes.length, shown.found.length], [3, 1]);
  assert.deepEqual([folded.causes.length, folded.found.length], [0, 1]);
});
