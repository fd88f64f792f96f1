import { manyBrands, namedBrands } from '../alerts.ts';
import type { Facts } from '../facts.ts';
import { counted, type Judged } from './judged.ts';

const withoutRole = {
  worker: 'No worker node is running: nothing is pulled, processed or delivered. Events are accepted and wait.',
  web: 'No web node is running: webhooks are not accepted, and partners must send them again.',
};

export function* ofService({
  missingRoles,
  stalled,
  nodeClocks,
  broken,
  alertRoutes,
  partners,
}: Facts): Generator<Judged> {
  for (const role of missingRoles) {
    yield { kind: 'role_missing', state: 'failing', subject: role, message: withoutRole[role] };
  }
  for (const { node, loops } of stalled) {
    const message = `Node ${node} makes no progress in ${loops.join(', ')}. Check that it reaches the database; restart it if it does.`;
    yield { kind: 'node_stalled', state: 'failing', subject: node, message, detail: { loops: [...loops] } };
  }
  for (const { node, ahead_ms } of nodeClocks) {
    const off = `${Math.round(Math.abs(ahead_ms) / 1000)} seconds ${ahead_ms > 0 ? 'ahead of' : 'behind'}`;
    const message = `The clock of node ${node} is ${off} the database's. Synchronize the clocks of both machines (NTP).`;
    yield { kind: 'clock_skew', state: 'attention', subject: node, message, detail: { ahead_ms } };
  }
  for (const [reason, documents] of Map.groupBy(broken, ({ message }) => message)) {
    const names = documents.map(({ document }) => document).sort();
    if (names.length >= manyBrands) {
      const message = `${names.length} documents cannot be used, the first is the ${names[0]}: ${reason}.`;
      const detail = { documents: names.slice(0, namedBrands) };
      yield { kind: 'document_broken', state: 'failing', subject: reason, message, detail };
      continue;
    }
    for (const name of names) {
      const message = `The ${name} cannot be used: ${reason}.`;
      yield { kind: 'document_broken', state: 'failing', subject: name, message };
    }
  }
  for (const { route, waiting, failure } of alertRoutes) {
    const alerts = waiting === 1 ? '1 alert waits' : `${waiting} alerts wait`;
    const message = `The alert route ${route} does not accept alerts: ${failure ?? 'no answer.'} ${alerts}. Try it with \`innbound alert test ${route}\`.`;
    yield { kind: 'alert_route_failing', state: 'failing', subject: route, message };
  }
  for (const { integration, link_id: subject, partner, is_ready, comments } of partners) {
    const asked = comments > 0 ? [`has written ${counted(comments, 'comment')}`] : [];
    const waits = [...(is_ready ? ['is ready to go live'] : []), ...asked].join(' and ');
    yield {
      kind: 'partner_waiting',
      state: 'attention',
      integration,
      subject,
      message: `${partner} ${waits} on the onboarding page of ${integration}.`,
    };
  }
}
