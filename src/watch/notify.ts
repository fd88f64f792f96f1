import type { Json } from '../terms.ts';

export interface AlertNews {
  readonly alert_id: string;
  readonly news: 'raised' | 'resolved';
}

export interface NotifyPorts<Alert extends AlertNews> {
  /** News that the webhook has not accepted yet, oldest first. */
  readonly unsent: () => Promise<readonly Alert[]>;
  /** True if the address accepted it. */
  readonly post: (body: Json) => Promise<boolean>;
  readonly markSent: (alertId: string, news: 'raised' | 'resolved') => Promise<void>;
}

/** Posts alerts in order. Stops at the first refusal; the next turn continues there. */
export async function notifyAlerts<Alert extends AlertNews>(
  ports: NotifyPorts<Alert>,
): Promise<{ sent: number; failed: boolean }> {
  let sent = 0;
  for (const { news, ...alert } of await ports.unsent()) {
    if (!(await ports.post({ type: `alert.${news}`, alert } as unknown as Json))) return { sent, failed: true };
    await ports.markSent(alert.alert_id, news);
    sent += 1;
  }
  return { sent, failed: false };
}
