// Written by scripts/console-types.ts from the OpenAPI document; not to be edited.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What each operation of the API answers, by the operation's id. */
export interface Answers {
  'session.create': {
    name: string;
    role: "viewer" | "operator" | "admin";
    integrations: string[] | null;
    expires_at: string;
  };
  'session.get': {
    name: string;
    role: "viewer" | "operator" | "admin";
    integrations: string[] | null;
  };
  'session.end': {
    ended: boolean;
  };
  'overview.get': {
    now: string;
    step_ms: number;
    series: {
      at: string;
      events: number;
      pulls: number;
      changes: number;
      delivered: number;
      retried: number;
      dead: number;
      latency_p50_ms: number | null;
      latency_p95_ms: number | null;
      waiting: number;
    }[];
    totals: {
      integrations: number;
      waiting: number;
      held: number;
      open_dead_letters: number;
      open_alerts: number;
      running: number;
    };
    states: Record<string, number>;
    health: {
      integration: string;
      state: "healthy" | "attention" | "failing" | "auth_failed" | "paused";
      reasons: string[];
    }[];
    nodes: {
      node: string;
      role: string;
      url: string;
      started_at: string;
    }[];
    broken: {
      document: string;
      message: string;
    }[];
  };
  'integrations.list': {
    items: {
      name: string;
      version: number;
      brand_id: string;
      connector: string;
      connector_version: number;
      timezone: string;
      country: string | null;
      state: "healthy" | "attention" | "failing" | "auth_failed" | "paused";
      reasons: string[];
      pull: {
        syncs: {
          sync: "pre_stay" | "stay" | "post_stay";
          every: string;
          next_at: string | null;
          skipped: number;
        }[];
      } | null;
      push: {
        enabled: boolean;
        last_event_at: string | null;
      };
      deliver: string[];
      last_run_at: string | null;
      last_run_status: string | null;
      running: number;
      open_dead_letters: number;
      open_alerts: number;
      lanes: {
        destination: string;
        waiting: number;
        held: number;
        late_ms: number | null;
      }[];
      sparkline: {
        at: string;
        changes: number;
        events: number;
      }[];
    }[];
  };
  'integrations.get': {
    name: string;
    version: number;
    brand_id: string;
    connector: string;
    connector_version: number;
    timezone: string;
    country: string | null;
    state: "healthy" | "attention" | "failing" | "auth_failed" | "paused";
    reasons: string[];
    pull: {
      syncs: {
        sync: "pre_stay" | "stay" | "post_stay";
        every: string;
        next_at: string | null;
        skipped: number;
      }[];
    } | null;
    push: {
      enabled: boolean;
      last_event_at: string | null;
    };
    deliver: string[];
    last_run_at: string | null;
    last_run_status: string | null;
    running: number;
    open_dead_letters: number;
    open_alerts: number;
    lanes: {
      destination: string;
      waiting: number;
      held: number;
      late_ms: number | null;
    }[];
    sparkline: {
      at: string;
      changes: number;
      events: number;
    }[];
    drift: {
      field: string;
      value: string;
      times: number;
      first_at: string;
      last_at: string;
    }[];
    consent: "given" | "needed" | null;
  };
  'integrations.pause': {
    paused: true;
  };
  'integrations.resume': {
    resumed: true;
  };
  'integrations.run': {
    run_id: string;
    already_going: boolean;
  };
  'integrations.backfill': {
    run_id: string;
    already_going: boolean;
  };
  'integrations.consent': {
    url: string;
    expires_at: string;
  };
  'endpoint.get': {
    endpoint_id: string;
    url: string;
    sandbox_url: string | null;
    issued_at: string;
    secrets: {
      secret_no: number;
      issued_at: string;
      expires_at: string | null;
    }[];
    first_event_at: string | null;
    last_event_at: string | null;
  };
  'endpoint.issue': {
    endpoint_id: string;
    url: string;
    sandbox_url: string;
    secret?: string;
  };
  'endpoint.retire': {
    retired: true;
  };
  'endpoint.rotate': {
    endpoint_id: string;
    url: string;
    sandbox_url: string;
    secret?: string;
  };
  'rejections.list': {
    items: {
      endpoint_id: string;
      at: string;
      status: number;
      code: string;
      reason: string;
      request_id: string;
      header_names: string[];
      body_bytes: number;
      address: string;
    }[];
    last_day: {
      code: string;
      reason: string;
      count: number;
    }[];
  };
  'rejections.unknown': {
    items: {
      endpoint_id: string;
      at: string;
      status: number;
      code: string;
      reason: string;
      request_id: string;
      header_names: string[];
      body_bytes: number;
      address: string;
    }[];
    last_day: {
      code: string;
      reason: string;
      count: number;
    }[];
  };
  'sandbox.list': {
    items: {
      report_id: string;
      at: string;
      event_id: string;
      event?: string;
      would_answer: {
        status: number;
        code?: string;
        detail: string;
      };
      signature: {
        right: boolean;
        reason?: string;
        explanation?: string;
        skew_s?: number;
      };
      outcome: "record" | "dead_letter" | "dropped" | "fetched_first" | "ignored" | "none";
    }[];
  };
  'sandbox.get': {
    report_id: string;
    at: string;
    event_id: string;
    event?: string;
    would_answer: {
      status: number;
      code?: string;
      detail: string;
    };
    signature: {
      right: boolean;
      reason?: string;
      explanation?: string;
      skew_s?: number;
    };
    body: {
      bytes: number;
      problem?: string;
    };
    envelope: {
      pointer: string;
      detail: string;
    }[];
    outcome: {
      kind: "record";
      type: "reservation" | "guest";
      record: Json;
      notes: {
        step: "shape" | "normalize" | "transform" | "reconcile";
        field: string;
        code: string;
        reason: string;
        before?: Json;
        after?: Json;
      }[];
    } | {
      kind: "dead_letter";
      code: string;
      message: string;
      detail: Json;
    } | {
      kind: "dropped";
      reason: string;
    } | {
      kind: "fetched_first";
      reservation_id: string;
    } | {
      kind: "ignored";
      reason: string;
    } | {
      kind: "none";
      reason: string;
    };
    events?: {
      event_id: string;
      event: string;
      outcome: {
        kind: "record";
        type: "reservation" | "guest";
        record: Json;
        notes: {
          step: "shape" | "normalize" | "transform" | "reconcile";
          field: string;
          code: string;
          reason: string;
          before?: Json;
          after?: Json;
        }[];
      } | {
        kind: "dead_letter";
        code: string;
        message: string;
        detail: Json;
      } | {
        kind: "dropped";
        reason: string;
      } | {
        kind: "fetched_first";
        reservation_id: string;
      } | {
        kind: "ignored";
        reason: string;
      } | {
        kind: "none";
        reason: string;
      };
    }[];
  };
  'runs.list': {
    items: {
      run_id: string;
      integration: string;
      sync: "pre_stay" | "stay" | "post_stay" | "backfill";
      kind: "scheduled" | "manual" | "backfill";
      status: "queued" | "running" | "complete" | "incomplete" | "failed";
      waiting: string | null;
      from: string | null;
      to: string | null;
      requested_by: string;
      queued_at: string;
      started_at: string | null;
      finished_at: string | null;
      node: string | null;
      pages: number;
      requests: number;
      retries: number;
      waited_ms: number;
      bytes: number;
      rows: number;
      fetched: number;
      changed: number;
      unchanged: number;
      superseded: number;
      dropped: number;
      skipped: number;
      dead_lettered: number;
      error_code: string | null;
      error_message: string | null;
    }[];
    next_cursor: string | null;
  };
  'runs.get': {
    run_id: string;
    integration: string;
    sync: "pre_stay" | "stay" | "post_stay" | "backfill";
    kind: "scheduled" | "manual" | "backfill";
    status: "queued" | "running" | "complete" | "incomplete" | "failed";
    waiting: string | null;
    from: string | null;
    to: string | null;
    requested_by: string;
    queued_at: string;
    started_at: string | null;
    finished_at: string | null;
    node: string | null;
    pages: number;
    requests: number;
    retries: number;
    waited_ms: number;
    bytes: number;
    rows: number;
    fetched: number;
    changed: number;
    unchanged: number;
    superseded: number;
    dropped: number;
    skipped: number;
    dead_lettered: number;
    error_code: string | null;
    error_message: string | null;
    connector_version: number | null;
    integration_version: number | null;
    findings: {
      code: string;
      message: string;
    }[];
    windows: {
      from: string;
      to: string;
      passes: number;
      pages: number;
      requests: number;
      waited_ms: number;
      rows: number;
      fresh: number;
      changed: number;
      bytes: number;
      longest_ms: number;
      asked_at: string;
    }[];
  };
  'events.list': {
    items: {
      integration: string;
      seq: number;
      event_id: string;
      event: string;
      occurred_at: string;
      received_at: string;
      state: "pending" | "hydrate" | "waiting" | "done" | "dead";
      outcome: string | null;
      type: string | null;
      id: string | null;
      version: number | null;
      attempt: number;
    }[];
    next_cursor: string | null;
  };
  'events.get': {
    integration: string;
    seq: number;
    event_id: string;
    event: string;
    occurred_at: string;
    received_at: string;
    state: "pending" | "hydrate" | "waiting" | "done" | "dead";
    outcome: string | null;
    type: string | null;
    id: string | null;
    version: number | null;
    attempt: number;
    body: Json;
  };
  'reservations.search': {
    items: {
      integration: string;
      type: "reservation" | "guest";
      id: string;
      version: number;
      changed_at: string;
      data: Json;
      matched: string;
      undelivered: number;
      open_dead_letters: number;
    }[];
    next_cursor: string | null;
  };
  'reservations.timeline': {
    integration: string;
    type: "reservation" | "guest";
    id: string;
    version: number;
    changed_at: string;
    data: Json;
    deliveries: {
      destination: string;
      delivered_version: number;
      next_version: number;
      last_version: number;
      attempt: number;
      due_at: string | null;
      held_by: string | null;
    }[];
    timeline: ({
      what: "received";
      at: string;
      outcome: string;
      version?: number;
      reason?: string;
      effective_at?: string;
      cause: string;
      cause_id?: string;
      connector_version?: number;
      integration_version?: number;
      notes?: {
        step: "shape" | "normalize" | "transform" | "reconcile";
        field: string;
        code: string;
        reason: string;
        before?: Json;
        after?: Json;
      }[];
      origins?: Record<string, string>;
      raw?: Json;
      diff?: {
        path: string;
        before?: Json;
        after?: Json;
      }[];
      idempotency_key?: string;
    } | {
      what: "delivery";
      at: string;
      destination: string;
      version: number;
      attempt: number;
      outcome: string;
      code?: string;
      status?: number;
      message?: string;
      duration_ms?: number;
    } | {
      what: "dead_letter";
      at: string;
      dead_letter_id: string;
      kind: string;
      destination?: string;
      version?: number;
      code: string;
      message: string;
      times: number;
      last_at: string;
      state: string;
      closed_at?: string;
      closed_reason?: string;
    } | {
      what: "seen_unchanged";
      at: string;
      times: number;
    })[];
  };
  'guests.search': {
    items: {
      integration: string;
      type: "reservation" | "guest";
      id: string;
      version: number;
      changed_at: string;
      data: Json;
      matched: string;
      undelivered: number;
      open_dead_letters: number;
    }[];
    next_cursor: string | null;
  };
  'guests.timeline': {
    integration: string;
    type: "reservation" | "guest";
    id: string;
    version: number;
    changed_at: string;
    data: Json;
    deliveries: {
      destination: string;
      delivered_version: number;
      next_version: number;
      last_version: number;
      attempt: number;
      due_at: string | null;
      held_by: string | null;
    }[];
    timeline: ({
      what: "received";
      at: string;
      outcome: string;
      version?: number;
      reason?: string;
      effective_at?: string;
      cause: string;
      cause_id?: string;
      connector_version?: number;
      integration_version?: number;
      notes?: {
        step: "shape" | "normalize" | "transform" | "reconcile";
        field: string;
        code: string;
        reason: string;
        before?: Json;
        after?: Json;
      }[];
      origins?: Record<string, string>;
      raw?: Json;
      diff?: {
        path: string;
        before?: Json;
        after?: Json;
      }[];
      idempotency_key?: string;
    } | {
      what: "delivery";
      at: string;
      destination: string;
      version: number;
      attempt: number;
      outcome: string;
      code?: string;
      status?: number;
      message?: string;
      duration_ms?: number;
    } | {
      what: "dead_letter";
      at: string;
      dead_letter_id: string;
      kind: string;
      destination?: string;
      version?: number;
      code: string;
      message: string;
      times: number;
      last_at: string;
      state: string;
      closed_at?: string;
      closed_reason?: string;
    } | {
      what: "seen_unchanged";
      at: string;
      times: number;
    })[];
  };
  'destinations.list': {
    items: {
      name: string;
      type: string;
      version: number;
      receives: string[];
      paused: boolean;
      paused_until: string | null;
      last_delivered_at: string | null;
      last_failed_at: string | null;
      last_failure: string | null;
      lanes: {
        integration: string;
        waiting: number;
        held: number;
        late_ms: number | null;
      }[];
    }[];
  };
  'deliveries.list': {
    items: {
      integration: string;
      destination: string;
      type: string;
      id: string;
      next_version: number;
      last_version: number;
      delivered_version: number;
      attempt: number;
      due_at: string | null;
      held_by: string | null;
      last_code: string | null;
      last_message: string | null;
      last_at: string | null;
    }[];
  };
  'dead_letters.list': {
    items: {
      id: string;
      kind: "event" | "record" | "delivery";
      integration: string;
      type: "reservation" | "guest" | null;
      record_id: string | null;
      destination: string | null;
      version: number | null;
      code: string;
      message: string;
      times: number;
      at: string;
      last_at: string;
      state: "open" | "replayed" | "dropped";
    }[];
    next_cursor: string | null;
    total: number;
  };
  'dead_letters.get': {
    id: string;
    kind: "event" | "record" | "delivery";
    integration: string;
    type: "reservation" | "guest" | null;
    record_id: string | null;
    destination: string | null;
    version: number | null;
    code: string;
    message: string;
    times: number;
    at: string;
    last_at: string;
    state: "open" | "replayed" | "dropped";
    detail: Json;
    raw: Json;
    cause: string | null;
    cause_id: string | null;
    connector_version: number | null;
    integration_version: number | null;
    closed_at: string | null;
    closed_by: string | null;
    closed_reason: string | null;
    data: Json;
    attempts: {
      version: number;
      attempt: number;
      at: string;
      outcome: string;
      code: string | null;
      status: number | null;
      message: string | null;
      duration_ms: number | null;
      node: string | null;
    }[];
    waiting_behind: number;
    event: Json;
    effective_at: string | null;
  };
  'dead_letters.preview': {
    kind: "ready";
    record: {
      type: "reservation" | "guest";
      id: string;
    };
    before?: Json;
    after: Json;
    diff: {
      path: string;
      before?: Json;
      after?: Json;
    }[];
  } | {
    kind: "dropped";
    reason: string;
  } | {
    kind: "still_failing";
    code: string;
    message: string;
  } | {
    kind: "gone";
    message: string;
  };
  'dead_letters.replay': {
    id: string;
    result: "replayed" | "still_failing" | "gone";
    code?: string;
    message?: string;
  };
  'dead_letters.replay_many': {
    results: {
      id: string;
      result: "replayed" | "still_failing" | "gone";
      code?: string;
      message?: string;
    }[];
    remaining: number;
  };
  'dead_letters.drop': {
    dropped: true;
  };
  'alerts.list': {
    items: {
      alert_id: string;
      kind: string;
      integration: string;
      subject: string;
      severity: "warning" | "critical";
      message: string;
      detail: Json;
      raised_at: string;
      seen_at: string;
      acknowledged_at: string | null;
      acknowledged_by: string | null;
      resolved_at: string | null;
    }[];
    next_cursor: string | null;
  };
  'alerts.acknowledge': {
    alert_id: string;
    kind: string;
    integration: string;
    subject: string;
    severity: "warning" | "critical";
    message: string;
    detail: Json;
    raised_at: string;
    seen_at: string;
    acknowledged_at: string | null;
    acknowledged_by: string | null;
    resolved_at: string | null;
  };
  'documents.list': {
    items: {
      kind: "connector" | "integration" | "destination" | "workspace";
      name: string;
      version: number;
      applied_at: string;
      applied_by: string;
    }[];
  };
  'documents.get': {
    kind: "connector" | "integration" | "destination" | "workspace";
    name: string;
    version: number;
    applied_at: string;
    applied_by: string;
    source: string;
    versions: {
      kind: "connector" | "integration" | "destination" | "workspace";
      name: string;
      version: number;
      applied_at: string;
      applied_by: string;
    }[];
  };
  'documents.apply': {
    version: number;
    file: string;
  };
  'documents.remove': {
    version: number;
    file: string;
  };
  'documents.validate': {
    valid: boolean;
    mistakes: {
      file: string;
      line: number;
      column: number;
      path: string;
      message: string;
      suggestion?: string;
    }[];
  };
  'documents.schema': Json;
  'map.preview': {
    mistakes: {
      line: number;
      column: number;
      path: string;
      message: string;
    }[];
    problem?: {
      code: string;
      message: string;
    };
    total: number;
    records: {
      kind: "record" | "dropped" | "dead";
      id?: string;
      record?: Json;
      notes?: {
        step: "shape" | "normalize" | "transform" | "reconcile";
        field: string;
        code: string;
        reason: string;
        before?: Json;
        after?: Json;
      }[];
      origins?: Record<string, string>;
      unmapped?: string[];
      code?: string;
      message?: string;
    }[];
  };
  'map.suggest': {
    connector: string;
    fields: Json[];
    unmapped: string[];
    unknown: string[];
  };
  'map.fetch': {
    sample: string;
    window: {
      from: string;
      to: string;
    };
  };
  'secrets.list': {
    items: {
      name: string;
      updated_at: string;
      used_by: {
        kind: "connector" | "integration" | "destination" | "workspace";
        name: string;
      }[];
    }[];
  };
  'secrets.put': {
    name: string;
  };
  'secrets.delete': {
    deleted: true;
  };
  'privacy.erase': {
    erasure_id: string;
    requested_at: string;
    completed_at: string | null;
    confirmed_at: string | null;
    requested_by: string;
    subject: string;
    removed: Record<string, number>;
    told: {
      integration: string;
      destination: string;
      records: number;
      confirmed: number;
      passed_over: number;
      confirmed_at: string | null;
    }[];
  };
  'privacy.list': {
    items: {
      erasure_id: string;
      requested_at: string;
      completed_at: string | null;
      confirmed_at: string | null;
      requested_by: string;
      subject: string;
      removed: Record<string, number>;
      told: {
        integration: string;
        destination: string;
        records: number;
        confirmed: number;
        passed_over: number;
        confirmed_at: string | null;
      }[];
    }[];
  };
  'privacy.find': {
    items: {
      erasure_id: string;
      requested_at: string;
      completed_at: string | null;
      confirmed_at: string | null;
      requested_by: string;
      subject: string;
      removed: Record<string, number>;
      told: {
        integration: string;
        destination: string;
        records: number;
        confirmed: number;
        passed_over: number;
        confirmed_at: string | null;
      }[];
    }[];
  };
  'privacy.get': {
    erasure_id: string;
    requested_at: string;
    completed_at: string | null;
    confirmed_at: string | null;
    requested_by: string;
    subject: string;
    removed: Record<string, number>;
    told: {
      integration: string;
      destination: string;
      records: number;
      confirmed: number;
      passed_over: number;
      confirmed_at: string | null;
    }[];
  };
  'tokens.list': {
    items: {
      token_id: string;
      kind: "api" | "sign_in" | "session";
      name: string;
      role: "viewer" | "operator" | "admin";
      integrations: string[] | null;
      created_at: string;
      created_by: string;
      expires_at: string | null;
      last_used_at: string | null;
      revoked_at: string | null;
    }[];
  };
  'tokens.create': {
    token_id: string;
    kind: "api" | "sign_in" | "session";
    name: string;
    role: "viewer" | "operator" | "admin";
    integrations: string[] | null;
    created_at: string;
    created_by: string;
    expires_at: string | null;
    last_used_at: string | null;
    revoked_at: string | null;
    token: string;
  };
  'tokens.revoke': {
    revoked: true;
  };
  'tokens.sign_in_link': {
    url: string;
    expires_at: string;
  };
  'audit.list': {
    items: {
      audit_id: number;
      at: string;
      actor: string;
      token_id: string | null;
      action: string;
      integration: string | null;
      target: Json;
      status: number | null;
      request_id: string | null;
      address: string | null;
    }[];
    next_cursor: string | null;
  };
}
