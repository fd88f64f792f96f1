import type { Json } from '../terms.ts';

export interface Told {
  readonly alert_id: string;
  readonly news: 'raised' | 'resolved';
}

export interface TellPorts<Alert extends Told> {
  readonly untold: () => Promise<readonly Alert[]>;
  /** True when the address took it. */
  readonly post: (body: Json) => Promise<boolean>;
  readonly markTold: (alertId: string, news: 'raised' | 'resolved') => Promise<void>;
}

/** Tells the outgoing webhook what it does not know yet, in order; at the first refusal it waits for the next turn. */
export async function tellAlerts<Alert extends Told>(
  ports: TellPorts<Alert>,
): Promise<{ told: number; failed: boolean }> {
  let told = 0;
  for (const { news, ...alert } of await ports.untold()) {
    if (!(await ports.post({ type: `alert.${news}`, alert } as unknown as Json))) return { told, failed: true };
    await ports.markTold(alert.alert_id, news);
    told += 1;
  }
  return { told, failed: false };
}
