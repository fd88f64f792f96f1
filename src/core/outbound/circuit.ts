/**
 * The circuit of a remote, a partner's API or a destination: one row in the database that all nodes share. A remote is away if it cannot
 * be reached, if it refuses our credentials, or if calls for several records failed and nothing was answered in between. Refused
 * credentials open it at once: nobody else's fault than ours, and many vendors lock an account that goes on asking.
 *
 *   closed ──5 failed calls while it is away──▶ open ──cooldown over──▶ probing: one node makes one call
 *     ▲                                          ▲                        │              │
 *     │                                          └──failed, cooldown doubled─────────────┘
 *     └──────────────any answer but a failure──────────────────────────────┘
 */
export interface Circuit {
  readonly state: 'closed' | 'open' | 'probing';
  /** Failed calls since the last answer, over all nodes. */
  readonly failures: number;
  readonly away: boolean;
  /** The record that failed first. If another one fails too, it is the remote and not the record. */
  readonly suspect: string | null;
  /** What failed is that our credentials are refused. */
  readonly refused: boolean;
  /** Probes since the circuit opened. */
  readonly probes: number;
}

export interface FailedCall {
  /** Shown to the operator. */
  readonly message: string;
  /** Nothing was sent that a record could be blamed for. */
  readonly unreachable: boolean;
  /** Our credentials were refused. */
  readonly refused?: boolean;
  readonly records: readonly string[];
}

export interface CircuitSettings {
  readonly failuresToOpen: number;
  /** The first cooldown; it doubles with each failed probe. */
  readonly firstMs: number;
  readonly mostMs: number;
}

export const partnerCircuit: CircuitSettings = { failuresToOpen: 5, firstMs: 60_000, mostMs: 900_000 };
export const destinationCircuit: CircuitSettings = { failuresToOpen: 5, firstMs: 10_000, mostMs: 300_000 };

/** `cooldownMs`: until the next probe; null while the circuit is closed. */
export function afterFailure(
  before: Circuit,
  { unreachable, refused = false, records }: FailedCall,
  { failuresToOpen, firstMs, mostMs }: CircuitSettings,
): Circuit & { readonly cooldownMs: number | null } {
  const [record = null] = records;
  const isFirst = before.failures === 0;
  const failures = before.failures + 1;
  const probes = isFirst ? 0 : before.probes;
  const isKnown = !isFirst && (before.away || before.suspect !== record);
  const away = unreachable || records.length > 1 || isKnown;
  const isOpen = away && (refused || failures >= failuresToOpen);
  return {
    state: isOpen ? 'open' : 'closed',
    failures,
    away,
    refused,
    suspect: isFirst ? record : before.suspect,
    probes,
    cooldownMs: isOpen ? Math.min(firstMs * 2 ** Math.min(probes, 30), mostMs) : null,
  };
}

/** The calls that all nodes together may make to a remote: one every `everyMs`, and `burst` at once after a quiet time. */
export interface Rate {
  readonly everyMs: number;
  readonly burst: number;
}
