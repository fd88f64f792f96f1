/** What the service sends to the partner's page. */
export interface View {
  readonly partner: string;
  readonly brand: string;
  readonly language: string;
  readonly asks: readonly ('push' | 'pull')[];
  readonly expires_at: string;
  readonly state: 'preparing' | 'ready' | 'live';
  readonly push: Push | null;
  readonly pull: Pull | null;
  readonly checks: readonly Check[];
  readonly is_complete: boolean;
  readonly comments: readonly Comment[];
  readonly health: Health | null;
}

export interface Push {
  readonly url: string;
  readonly test_url: string;
  readonly is_rehearsal: boolean;
  readonly secret_at: string | null;
  readonly is_standard: boolean;
  readonly retry_test: { readonly attempts: number } | null;
  readonly requests: readonly Arrived[];
}

export interface Arrived {
  readonly id: string;
  readonly at: string;
  readonly event: string | null;
  readonly event_id: string;
  readonly status: number;
  readonly code: string | null;
  readonly signature: {
    readonly right: boolean;
    readonly reason?: string;
    readonly part?: 'time' | 'body' | 'secret' | 'encoding' | 'method' | 'missing';
    readonly explanation?: string;
    readonly skew_s?: number;
  } | null;
  readonly problems: readonly { readonly pointer: string; readonly detail: string }[];
  readonly outcome: {
    readonly kind: 'record' | 'dead_letter' | 'dropped' | 'fetched_first' | 'ignored' | 'none';
    readonly fields?: readonly Field[];
    readonly notes?: readonly { readonly field: string; readonly code: string; readonly reason: string }[];
    readonly effect?: string;
    readonly code?: string;
    readonly reason?: string;
  };
}

export interface Field {
  readonly field: string;
  readonly value: string;
  readonly from?: string;
}

export interface Pull {
  readonly may_edit: boolean;
  readonly base_url: string | null;
  readonly auth: { readonly type: string; readonly grant?: string } | null;
  readonly list: ListForm | null;
  readonly tested_at: string | null;
  /** The check by the rules of the interface; null if it cannot be made. */
  readonly check: { readonly requests: number; readonly rules?: readonly Rule[] } | null;
}

export interface Rule {
  readonly id: string;
  readonly outcome: 'pass' | 'fail' | 'advice';
  readonly title: string;
  readonly seen: string;
  readonly change?: string;
  readonly asked?: string;
  readonly status?: number;
}

export interface ListForm {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly from: string;
  readonly to: string;
  /** As the connector writes it: a type, and where requests and answers have what. */
  readonly paging: Readonly<Record<string, unknown>> | null;
}

export interface Tested {
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly status?: number;
    readonly duration_ms?: number;
    readonly failure?: string;
    readonly answer?: string;
  };
  readonly failure?: { readonly code: string; readonly message: string; readonly meaning: string };
  readonly records: readonly (readonly Field[])[];
  readonly filled: readonly { readonly field: string; readonly filled: number; readonly of: number }[];
  readonly unread: readonly string[];
}

export interface Check {
  readonly id: string;
  readonly state: 'done' | 'wrong' | 'missing';
  readonly seen: Readonly<Record<string, string | number>>;
  readonly isOptional?: true;
}

export interface Comment {
  readonly at: string;
  readonly side: 'partner' | 'operator';
  readonly about: string;
  readonly text: string;
}

interface Poll {
  readonly at: string;
  readonly id: string;
  readonly status: string;
  readonly bookings: number;
  readonly code: string | null;
  readonly meaning: string | null;
}

export interface Health {
  readonly last_event_at: string | null;
  readonly last_poll: Poll | null;
  readonly backfill: { readonly status: string; readonly bookings: number } | null;
  readonly refused: readonly {
    readonly at: string;
    readonly status: number;
    readonly code: string;
    readonly reason: string;
    readonly request_id: string;
  }[];
  readonly failed_polls: readonly Poll[];
}
