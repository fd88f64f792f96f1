// Written by scripts/console-types.ts from the OpenAPI document. Do not edit.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What each operation of the API takes (path, query and body together) and answers, by its id. */
export interface Operations {
  'session.create': {
    input: {
      token: string;
    };
    answer: {
      name: string;
      role: "viewer" | "operator" | "admin";
      integrations: string[] | null;
      expires_at: string;
    };
  };
  'session.get': {
    input: {};
    answer: {
      name: string;
      role: "viewer" | "operator" | "admin";
      integrations: string[] | null;
    };
  };
  'session.end': {
    input: {};
    answer: {
      ended: boolean;
    };
  };
  'session.end_everywhere': {
    input: {};
    answer: {
      ended: number;
    };
  };
  'session.ways': {
    input: {};
    answer: {
      oidc: {
        label: string;
      } | null;
    };
  };
  'session.oidc': {
    input: {};
    answer: {
      url: string;
    };
  };
  'overview.get': {
    input: {
      integration?: string | undefined;
      period?: "15m" | "1h" | "24h" | "7d" | undefined;
    };
    answer: {
      now: string;
      step_ms: number;
      counted_until: string | null;
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
        latency: number[];
        waiting: number;
      }[];
      totals: {
        integrations: number;
        bookings: number;
        waiting: number;
        held: number;
        open_dead_letters: number;
        open_alerts: number;
        running: number;
      };
      checked_at: string;
      states: Record<"healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed", number>;
      causes: {
        incident_id: string;
        cause: string;
        kind: string;
        title: string;
        message: string;
        severity: "warning" | "critical";
        since: string;
        acknowledged_by: string | null;
        brands: number;
        integrations: string[];
        waiting: number;
        dead_letters: number;
        bookings: number;
        everything: boolean;
      }[];
      health: {
        integration: string;
        state: "healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed";
        reasons: string[];
        rests_on: string | null;
        bookings: number | null;
        last_delivered_at: string | null;
        findings: {
          kind: string;
          subject: string;
          cause: string;
          state: "healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed";
          message: string;
          action?: "resume" | "test_and_resume" | "try_now" | "try_destination" | "release" | undefined;
        }[];
        connector: string;
        events: number;
        changes: number;
        moves: boolean;
        lanes: {
          destination: string;
          waiting: number;
          preview: boolean;
          held: number;
          failing: boolean;
          moves: boolean;
        }[];
      }[];
      latency_waiting: number[];
      late_after_ms: number;
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
  };
  'overview.days': {
    input: {
      q?: string | undefined;
      days?: number | undefined;
    };
    answer: {
      brands: number;
      items: {
        integration: string;
        pulls: boolean;
        push: boolean;
        days: {
          day: string;
          hours: number;
          pulled_hours: number;
          events: number;
          failed_runs: number;
          refused_events: number;
          dead_letters: number;
          unlisted: number;
        }[];
      }[];
    };
  };
  'overview.flow': {
    input: {
      from: string;
      to: string;
    };
    answer: {
      events: number;
      changes: number;
      delivered: number;
      dead: number;
      complete_runs: number;
      failed_runs: number;
      refused_events: number;
    };
  };
  'overview.marks': {
    input: {
      period?: "15m" | "1h" | "24h" | "7d" | undefined;
      from?: string | undefined;
      to?: string | undefined;
    };
    answer: {
      items: {
        at: string;
        actor: string;
        action: string;
        integration: string | null;
        what: string;
      }[];
    };
  };
  'integrations.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      q?: string | undefined;
      connector?: string | undefined;
      group?: string | undefined;
      hours?: number | undefined;
    };
    answer: {
      items: {
        name: string;
        version: number;
        group: string | null;
        brand_id: string;
        connector: string;
        connector_version: number;
        timezone: string;
        country: string | null;
        state: "healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed";
        reasons: string[];
        rests_on: string | null;
        bookings: number | null;
        last_delivered_at: string | null;
        findings: {
          kind: string;
          subject: string;
          cause: string;
          state: "healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed";
          message: string;
          action?: "resume" | "test_and_resume" | "try_now" | "try_destination" | "release" | undefined;
        }[];
        paused: boolean;
        paused_in_document: boolean;
        pulled_by: string | null;
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
        stream: {
          connected_since: string | null;
          last_message_at: string | null;
          problem: string | null;
        } | null;
        deliver: string[];
        waits_until: string | null;
        last_run_at: string | null;
        last_run_status: string | null;
        running: number;
        open_dead_letters: number;
        open_alerts: number;
        lanes: {
          destination: string;
          waiting: number;
          preview: boolean;
          retrying: number;
          held: number;
          late_ms: number | null;
          failing: boolean;
          last_failure: string | null;
        }[];
        sparkline: {
          at: string;
          changes: number;
          events: number;
        }[];
      }[];
      next_cursor: string | null;
    };
  };
  'groups.list': {
    input: {};
    answer: {
      items: {
        group: string;
        brands: number;
        states: Record<"healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed", number>;
        waiting: number;
        open_dead_letters: number;
      }[];
    };
  };
  'integrations.get': {
    input: {
      integration: string;
      hours?: number | undefined;
    };
    answer: {
      name: string;
      version: number;
      group: string | null;
      brand_id: string;
      connector: string;
      connector_version: number;
      timezone: string;
      country: string | null;
      state: "healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed";
      reasons: string[];
      rests_on: string | null;
      bookings: number | null;
      last_delivered_at: string | null;
      findings: {
        kind: string;
        subject: string;
        cause: string;
        state: "healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed";
        message: string;
        action?: "resume" | "test_and_resume" | "try_now" | "try_destination" | "release" | undefined;
      }[];
      paused: boolean;
      paused_in_document: boolean;
      pulled_by: string | null;
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
      stream: {
        connected_since: string | null;
        last_message_at: string | null;
        problem: string | null;
      } | null;
      deliver: string[];
      waits_until: string | null;
      last_run_at: string | null;
      last_run_status: string | null;
      running: number;
      open_dead_letters: number;
      open_alerts: number;
      lanes: {
        destination: string;
        waiting: number;
        preview: boolean;
        retrying: number;
        held: number;
        late_ms: number | null;
        failing: boolean;
        last_failure: string | null;
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
  };
  'integrations.pause': {
    input: {
      integration: string;
      reason?: string | undefined;
    };
    answer: {
      paused: true;
    };
  };
  'integrations.start': {
    input: {
      integration: string;
    };
    answer: {
      version: number;
      file: string;
      pulling: boolean;
    };
  };
  'integrations.resume': {
    input: {
      integration: string;
      test?: boolean | undefined;
    };
    answer: {
      resumed: true;
    };
  };
  'integrations.try_now': {
    input: {
      integration: string;
    };
    answer: {
      runs: number;
    };
  };
  'integrations.refetch': {
    input: {
      integration: string;
      id: string;
    };
    answer: {
      result: "applied" | "absent";
      outcome: string | null;
      version: number | null;
      run_id: string | null;
    };
  };
  'integrations.resend': {
    input: {
      integration: string;
      destination: string;
      id?: string | undefined;
    };
    answer: {
      queued: number;
    };
  };
  'integrations.preview_release': {
    input: {
      integration: string;
      destination: string;
    };
    answer: {
      total: number;
      looked_at: number | null;
      counts: {
        label: string;
        count: number;
      }[];
      samples: {
        integration: string;
        id: string;
        text: string | null;
        diff: Json;
      }[];
    };
  };
  'integrations.release': {
    input: {
      integration: string;
      destination: string;
    };
    answer: {
      version: number;
      file: string;
    };
  };
  'integrations.consent': {
    input: {
      integration: string;
    };
    answer: {
      url: string;
      expires_at: string;
    };
  };
  'integrations.run': {
    input: {
      integration: string;
      sync: "pre_stay" | "stay" | "post_stay";
      from?: string | undefined;
      to?: string | undefined;
    };
    answer: {
      run_id: string;
      already_going: boolean;
    };
  };
  'integrations.backfill': {
    input: {
      integration: string;
      from: string;
      to: string;
    };
    answer: {
      run_id: string;
      already_going: boolean;
    };
  };
  'integrations.quality': {
    input: {
      integration: string;
      days?: number | undefined;
    };
    answer: {
      items: {
        day: string;
        counted_at: string;
        reservations: number;
        guests: number;
        email: number;
        email_proxy: number;
        email_invalid: number;
        phone: number;
        phone_invalid: number;
        last_name: number;
        nationality: number;
        total_amount: number;
        currency: number;
        channel: number;
        rooms: number;
        lead_guest: number;
        unreadable: number;
        events: number;
        late_events: number;
      }[];
    };
  };
  'integrations.feed': {
    input: {
      integration: string;
    };
    answer: {
      events: (number | null)[];
      rows: (number | null)[];
      run_seconds: (number | null)[];
      dead_share: (number | null)[];
    };
  };
  'integrations.unlisted': {
    input: {
      integration: string;
      limit?: number | undefined;
    };
    answer: {
      items: {
        id: string;
        sync: string;
        since: string;
        answer: "present" | "absent" | null;
        asked_at: string | null;
        check_in: string;
        check_out: string;
        status: string;
      }[];
    };
  };
  'integrations.push_gaps': {
    input: {
      integration: string;
      days?: number | undefined;
    };
    answer: {
      items: {
        day: string;
        events: number;
        created: number;
        updated: number;
        cancelled: number;
        examples: string[];
      }[];
      first_event_at: string | null;
      refused: number;
    };
  };
  'integrations.hotel': {
    input: {
      integration: string;
    };
    answer: {
      report: {
        day: string;
        counted_at: string;
        behind: number;
        definition: "innbound" | "usali";
        currency: string;
        rates: {
          currency: string;
          rate: number;
          from: string;
        }[];
        left_out: string[];
        today: {
          arrivals: {
            reservations: number;
            done: number;
            rooms: number;
            people: number;
          };
          departures: {
            reservations: number;
            done: number;
            rooms: number;
            people: number;
          };
          in_house: {
            rooms: number;
            people: number;
          };
        };
        nights: {
          rooms_available: number | null;
          sold: number;
          revenue: number;
          occupancy: number | null;
          adr: number | null;
          revpar: number | null;
          night: string;
          known: boolean;
          last_year: {
            rooms_available: number | null;
            sold: number;
            revenue: number;
            occupancy: number | null;
            adr: number | null;
            revpar: number | null;
          } | null;
          forecast: number | null;
        }[];
        months: {
          rooms_available: number | null;
          sold: number;
          revenue: number;
          occupancy: number | null;
          adr: number | null;
          revpar: number | null;
          month: string;
          nights: number;
          known_nights: number;
          last_year: {
            rooms_available: number | null;
            sold: number;
            revenue: number;
            occupancy: number | null;
            adr: number | null;
            revpar: number | null;
          } | null;
          forecast: {
            sold: number;
            revenue: number;
          } | null;
          budget: number | null;
        }[];
        pace: {
          from: string;
          known: boolean;
          now: {
            rooms: number;
            revenue: number;
          };
          week_ago: {
            rooms: number;
            revenue: number;
          };
          month_ago: {
            rooms: number;
            revenue: number;
          };
          year_ago: {
            rooms: number;
            revenue: number;
          } | null;
          year_ago_final: {
            rooms: number;
            revenue: number;
          } | null;
        }[];
        cancellations: {
          week: {
            reservations: number;
            room_nights: number;
            revenue: number;
          };
          week_before: {
            reservations: number;
            room_nights: number;
            revenue: number;
          };
          no_shows: {
            reservations: number;
            room_nights: number;
            revenue: number;
          };
        };
        channels: {
          channel: string;
          room_nights: number;
          revenue: number;
          net: number | null;
        }[];
        guests: {
          returning: number;
          new: number;
          unknown: number;
        };
        forecast_errors: {
          days: number;
          nights: number;
          rooms: number;
        }[];
      } | null;
    };
  };
  'integrations.budget': {
    input: {
      integration: string;
      month: string;
      room_revenue: number | null;
    };
    answer: {
      month: string;
      room_revenue: number | null;
    };
  };
  'integrations.dry_run': {
    input: {
      integration: string;
      day?: string | undefined;
    };
    answer: {
      day: string;
      timezone: string;
      status: "complete" | "incomplete";
      counts: {
        fetched: number;
        changed: number;
        unchanged: number;
        superseded: number;
        dropped: number;
        dead_lettered: number;
        requests: number;
        pages: number;
      };
      records: {
        kind: "record" | "dropped" | "dead";
        outcome: string;
        id?: string | undefined;
        record?: Json | undefined;
        notes?: {
          step: "shape" | "normalize" | "transform" | "reconcile";
          field: string;
          code: string;
          reason: string;
          before?: Json | undefined;
          after?: Json | undefined;
        }[] | undefined;
        code?: string | undefined;
        message?: string | undefined;
      }[];
      error?: {
        code: string;
        message: string;
      } | undefined;
      warning?: string | undefined;
      request?: {
        method: string;
        url: string;
        headers: Record<string, string>;
        body?: string | undefined;
        status?: number | undefined;
        duration_ms?: number | undefined;
        failure?: string | undefined;
        answer?: string | undefined;
      } | undefined;
    };
  };
  'endpoint.get': {
    input: {
      integration: string;
    };
    answer: {
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
    } | null;
  };
  'endpoint.issue': {
    input: {
      integration: string;
    };
    answer: {
      endpoint_id: string;
      url: string;
      sandbox_url: string;
      secret?: string | undefined;
    };
  };
  'endpoint.retire': {
    input: {
      integration: string;
    };
    answer: {
      retired: true;
    };
  };
  'endpoint.rotate': {
    input: {
      integration: string;
      overlap_hours?: number | undefined;
    };
    answer: {
      endpoint_id: string;
      url: string;
      sandbox_url: string;
      secret?: string | undefined;
    };
  };
  'rejections.list': {
    input: {
      integration: string;
    };
    answer: {
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
        remedy: string;
      }[];
    };
  };
  'rejections.unknown': {
    input: {};
    answer: {
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
        remedy: string;
      }[];
    };
  };
  'sandbox.list': {
    input: {
      integration: string;
    };
    answer: {
      items: {
        report_id: string;
        at: string;
        event_id: string;
        event?: string | undefined;
        would_answer: {
          status: number;
          code?: string | undefined;
          detail: string;
        };
        signature: {
          right: boolean;
          reason?: string | undefined;
          part?: "time" | "body" | "secret" | "encoding" | "method" | "missing" | undefined;
          explanation?: string | undefined;
          skew_s?: number | undefined;
        };
        outcome: "record" | "dead_letter" | "dropped" | "fetched_first" | "ignored" | "none";
      }[];
    };
  };
  'sandbox.get': {
    input: {
      integration: string;
      report_id: string;
    };
    answer: {
      report_id: string;
      at: string;
      event_id: string;
      event?: string | undefined;
      would_answer: {
        status: number;
        code?: string | undefined;
        detail: string;
      };
      signature: {
        right: boolean;
        reason?: string | undefined;
        part?: "time" | "body" | "secret" | "encoding" | "method" | "missing" | undefined;
        explanation?: string | undefined;
        skew_s?: number | undefined;
      };
      answered?: number | undefined;
      body: {
        bytes: number;
        problem?: string | undefined;
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
          before?: Json | undefined;
          after?: Json | undefined;
        }[];
        effect?: string | undefined;
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
        reservation_id?: string | undefined;
        guest_id?: string | undefined;
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
            before?: Json | undefined;
            after?: Json | undefined;
          }[];
          effect?: string | undefined;
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
          reservation_id?: string | undefined;
          guest_id?: string | undefined;
        } | {
          kind: "ignored";
          reason: string;
        } | {
          kind: "none";
          reason: string;
        };
      }[] | undefined;
    };
  };
  'onboarding.list': {
    input: {
      integration?: string | undefined;
    };
    answer: {
      items: {
        link_id: string;
        integration: string;
        partner: string;
        language: "en" | "pt" | "de" | "es" | "fr";
        asks: ("push" | "pull")[];
        many_browsers: boolean;
        is_opened: boolean;
        is_expired: boolean;
        created_at: string;
        created_by: string;
        expires_at: string;
        revoked_at: string | null;
        ready_at: string | null;
        live_at: string | null;
        checks: {
          id: string;
          state: "done" | "wrong" | "missing";
          seen: Record<string, string | number>;
          isOptional?: true | undefined;
        }[];
        is_complete: boolean;
      }[];
    };
  };
  'onboarding.create': {
    input: {
      integration: string;
      partner: string;
      asks?: ("push" | "pull")[] | undefined;
      language?: "en" | "pt" | "de" | "es" | "fr" | undefined;
      days?: number | undefined;
      many_browsers?: boolean | undefined;
      brand?: {
        brand_id: string;
        timezone: string;
        country?: string | undefined;
        deliver?: string[] | undefined;
      } | undefined;
    };
    answer: {
      link_id: string;
      integration: string;
      partner: string;
      language: "en" | "pt" | "de" | "es" | "fr";
      asks: ("push" | "pull")[];
      many_browsers: boolean;
      is_opened: boolean;
      is_expired: boolean;
      created_at: string;
      created_by: string;
      expires_at: string;
      revoked_at: string | null;
      ready_at: string | null;
      live_at: string | null;
      checks: {
        id: string;
        state: "done" | "wrong" | "missing";
        seen: Record<string, string | number>;
        isOptional?: true | undefined;
      }[];
      is_complete: boolean;
      url: string;
    };
  };
  'onboarding.get': {
    input: {
      link_id: string;
    };
    answer: {
      link_id: string;
      integration: string;
      partner: string;
      language: "en" | "pt" | "de" | "es" | "fr";
      asks: ("push" | "pull")[];
      many_browsers: boolean;
      is_opened: boolean;
      is_expired: boolean;
      created_at: string;
      created_by: string;
      expires_at: string;
      revoked_at: string | null;
      ready_at: string | null;
      live_at: string | null;
      checks: {
        id: string;
        state: "done" | "wrong" | "missing";
        seen: Record<string, string | number>;
        isOptional?: true | undefined;
      }[];
      is_complete: boolean;
      comments: {
        at: string;
        side: "partner" | "operator";
        author: string;
        about: string;
        text: string;
      }[];
      connector: {
        name: string;
        before: number;
        now: number;
      } | null;
    };
  };
  'onboarding.revoke': {
    input: {
      link_id: string;
    };
    answer: {
      revoked: true;
    };
  };
  'onboarding.answer': {
    input: {
      link_id: string;
      about?: string | undefined;
      text: string;
    };
    answer: {
      added: true;
    };
  };
  'onboarding.approve': {
    input: {
      link_id: string;
      past_days?: number | undefined;
      future_days?: number | undefined;
      anyway?: boolean | undefined;
      deliver?: string[] | undefined;
    };
    answer: {
      live: true;
      run_id: string | null;
      deliver: string[];
      preview: string[];
    };
  };
  'partner.open': {
    input: {
      link_id: string;
      token: string;
    };
    answer: {
      opened: true;
    };
  };
  'runs.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      integration?: string | undefined;
      sync?: "pre_stay" | "stay" | "post_stay" | "backfill" | undefined;
      status?: "queued" | "running" | "complete" | "incomplete" | "failed" | undefined;
    };
    answer: {
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
        repeated: number;
        dead_lettered: number;
        held: number;
        error_code: string | null;
        error_message: string | null;
        has_partner_text: boolean;
      }[];
      next_cursor: string | null;
    };
  };
  'runs.get': {
    input: {
      run_id: string;
    };
    answer: {
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
      repeated: number;
      dead_lettered: number;
      held: number;
      error_code: string | null;
      error_message: string | null;
      has_partner_text: boolean;
      connector_version: number | null;
      integration_version: number | null;
      findings: {
        code: string;
        message: string;
      }[];
      last_request: {
        method: string;
        url: string;
        headers: Record<string, string>;
        body?: string | undefined;
        status?: number | undefined;
        duration_ms?: number | undefined;
        failure?: string | undefined;
        answer?: string | undefined;
      } | null;
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
  };
  'runs.rows': {
    input: {
      run_id: string;
      outcome: "changed" | "unchanged" | "superseded" | "skipped" | "dropped" | "dead" | "held";
      limit?: number | undefined;
    };
    answer: {
      items: {
        integration: string;
        id: string | null;
        version: number | null;
        reason: string | null;
        dead_letter_id: string | null;
      }[];
    };
  };
  'runs.partner_text': {
    input: {
      run_id: string;
    };
    answer: {
      run_id: string;
      partner_text: string;
    };
  };
  'events.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      integration?: string | undefined;
      state?: "pending" | "hydrate" | "waiting" | "done" | "dead" | undefined;
      event_id?: string | undefined;
    };
    answer: {
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
  };
  'events.get': {
    input: {
      integration: string;
      seq: string;
    };
    answer: {
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
  };
  'reservations.search': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      q?: string | undefined;
      integration?: string | undefined;
      status?: "confirmed" | "checked_in" | "checked_out" | "cancelled" | "no_show" | "other" | undefined;
    };
    answer: {
      items: {
        integration: string;
        type: "reservation" | "guest";
        id: string;
        version: number;
        changed_at: string;
        data: Json;
        matched: string;
        undelivered: number;
        receivers: number;
        open_dead_letters: number;
        held: number;
      }[];
      next_cursor: string | null;
    };
  };
  'reservations.timeline': {
    input: {
      integration: string;
      id: string;
      cursor?: string | undefined;
      limit?: number | undefined;
    };
    answer: {
      integration: string;
      type: "reservation" | "guest";
      id: string;
      version: number;
      changed_at: string;
      data: Json;
      consents: {
        guest?: number | undefined;
        value: boolean;
        source: string;
        at: string;
      }[];
      deliveries: {
        destination: string;
        delivered_version: number;
        next_version: number;
        last_version: number;
        attempt: number;
        due_at: string | null;
        waits_for: "release" | "document" | "worker" | null;
        held_by: string | null;
        removed: boolean;
        delivered_at: string | null;
        away_since: string | null;
        next_probe_at: string | null;
        away_said: string | null;
      }[];
      history_since?: string | undefined;
      timeline: ({
        what: "received";
        at: string;
        outcome: string;
        version?: number | undefined;
        reason?: string | undefined;
        effective_at?: string | undefined;
        cause: string;
        cause_id?: string | undefined;
        connector_version?: number | undefined;
        integration_version?: number | undefined;
        notes?: {
          step: "shape" | "normalize" | "transform" | "reconcile";
          field: string;
          code: string;
          reason: string;
          before?: Json | undefined;
          after?: Json | undefined;
        }[] | undefined;
        origins?: Record<string, string> | undefined;
        raw?: Json | undefined;
        diff?: {
          path: string;
          before?: Json | undefined;
          after?: Json | undefined;
        }[] | undefined;
        idempotency_key?: string | undefined;
      } | {
        what: "delivery";
        at: string;
        destination: string;
        version: number;
        attempt: number;
        outcome: string;
        code?: string | undefined;
        status?: number | undefined;
        message?: string | undefined;
        duration_ms?: number | undefined;
      } | {
        what: "dead_letter";
        at: string;
        dead_letter_id: string;
        kind: string;
        destination?: string | undefined;
        version?: number | undefined;
        code: string;
        message: string;
        times: number;
        last_at: string;
        state: string;
        closed_at?: string | undefined;
        closed_reason?: string | undefined;
        answer?: string | undefined;
      } | {
        what: "seen_unchanged";
        at: string;
        times: number;
      })[];
      next_cursor: string | null;
    };
  };
  'arrivals.search': {
    input: {
      q: string;
      integration?: string | undefined;
    };
    answer: {
      items: {
        outcome: "dead_letter" | "held" | "waiting" | "dropped" | "superseded" | "not_for_this_sync" | "unlisted" | "erased";
        integration: string;
        type: string;
        id: string | null;
        at: string;
        reason: string | null;
        times: number;
        dead_letter_id: string | null;
        run_id: string | null;
      }[];
      since: string | null;
      refused: number;
    };
  };
  'guests.search': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      q?: string | undefined;
      integration?: string | undefined;
    };
    answer: {
      items: {
        integration: string;
        type: "reservation" | "guest";
        id: string;
        version: number;
        changed_at: string;
        data: Json;
        matched: string;
        undelivered: number;
        receivers: number;
        open_dead_letters: number;
        held: number;
      }[];
      next_cursor: string | null;
    };
  };
  'guests.timeline': {
    input: {
      integration: string;
      id: string;
      cursor?: string | undefined;
      limit?: number | undefined;
    };
    answer: {
      integration: string;
      type: "reservation" | "guest";
      id: string;
      version: number;
      changed_at: string;
      data: Json;
      consents: {
        guest?: number | undefined;
        value: boolean;
        source: string;
        at: string;
      }[];
      deliveries: {
        destination: string;
        delivered_version: number;
        next_version: number;
        last_version: number;
        attempt: number;
        due_at: string | null;
        waits_for: "release" | "document" | "worker" | null;
        held_by: string | null;
        removed: boolean;
        delivered_at: string | null;
        away_since: string | null;
        next_probe_at: string | null;
        away_said: string | null;
      }[];
      history_since?: string | undefined;
      timeline: ({
        what: "received";
        at: string;
        outcome: string;
        version?: number | undefined;
        reason?: string | undefined;
        effective_at?: string | undefined;
        cause: string;
        cause_id?: string | undefined;
        connector_version?: number | undefined;
        integration_version?: number | undefined;
        notes?: {
          step: "shape" | "normalize" | "transform" | "reconcile";
          field: string;
          code: string;
          reason: string;
          before?: Json | undefined;
          after?: Json | undefined;
        }[] | undefined;
        origins?: Record<string, string> | undefined;
        raw?: Json | undefined;
        diff?: {
          path: string;
          before?: Json | undefined;
          after?: Json | undefined;
        }[] | undefined;
        idempotency_key?: string | undefined;
      } | {
        what: "delivery";
        at: string;
        destination: string;
        version: number;
        attempt: number;
        outcome: string;
        code?: string | undefined;
        status?: number | undefined;
        message?: string | undefined;
        duration_ms?: number | undefined;
      } | {
        what: "dead_letter";
        at: string;
        dead_letter_id: string;
        kind: string;
        destination?: string | undefined;
        version?: number | undefined;
        code: string;
        message: string;
        times: number;
        last_at: string;
        state: string;
        closed_at?: string | undefined;
        closed_reason?: string | undefined;
        answer?: string | undefined;
      } | {
        what: "seen_unchanged";
        at: string;
        times: number;
      })[];
      next_cursor: string | null;
    };
  };
  'guests.stays': {
    input: {
      integration: string;
      id: string;
    };
    answer: {
      items: {
        id: string;
        check_in: string;
        check_out: string;
        status: string;
      }[];
    };
  };
  'guests.pairs': {
    input: {
      integration: string;
      limit?: number | undefined;
    };
    answer: {
      items: {
        evidence: "shared_address" | "other_last_name";
        reason: string;
        found_at: string;
        profiles: {
          id: string;
          bookings: number;
          person: {
            first_name?: string | undefined;
            last_name?: string | undefined;
            email?: string | undefined;
            phone?: string | undefined;
            guest_id?: string | undefined;
            date_of_birth?: string | undefined;
            nationality?: string | undefined;
            marketing_consent?: boolean | undefined;
          };
        }[];
      }[];
    };
  };
  'guests.not_same': {
    input: {
      integration: string;
      id: string;
      as: string;
    };
    answer: {
      remembered: true;
    };
  };
  'guests.shared_addresses': {
    input: {
      integration: string;
    };
    answer: {
      items: {
        email?: string | undefined;
        phone?: string | undefined;
        persons: number;
        bookings: number;
      }[];
    };
  };
  'guests.merge': {
    input: {
      integration: string;
      id: string;
      into: string;
    };
    answer: {
      profiles: {
        id: string;
        version: number;
      }[];
    };
  };
  'guests.split': {
    input: {
      integration: string;
      id: string;
      fields: ("guest_id" | "email" | "phone")[];
    } | {
      integration: string;
      id: string;
      merged: string;
    };
    answer: {
      profiles: {
        id: string;
        version: number;
      }[];
    };
  };
  'changes.read': {
    input: {
      after?: string | undefined;
      limit?: number | undefined;
      wait?: number | undefined;
      integration?: string | undefined;
      type?: "reservation" | "guest" | undefined;
    };
    answer: {
      changes: {
        type: "reservation" | "guest";
        integration: string;
        brand_id: string;
        event: "created" | "updated" | "cancelled" | "erased" | "removed";
        removed?: true | undefined;
        epoch?: number | undefined;
        version: number;
        idempotency_key: string;
        changed_at: string;
        data: Json;
      }[];
      cursor: string;
      more: boolean;
    };
  };
  'destinations.list': {
    input: {};
    answer: {
      items: {
        name: string;
        type: string;
        version: number;
        receives: string[];
        state: "healthy" | "new" | "paused" | "attention" | "failing" | "auth_failed";
        paused: boolean;
        paused_until: string | null;
        circuit: {
          open_since: string;
          last_failure: string;
          next_probe_at: string;
          refused: boolean;
        } | null;
        refusing: {
          since: string;
          records: number;
          last_failure: string;
        } | null;
        last_delivered_at: string | null;
        last_failed_at: string | null;
        last_failure: string | null;
        lanes: {
          integration: string;
          waiting: number;
          preview: boolean;
          retrying: number;
          held: number;
          late_ms: number | null;
          failing: boolean;
          last_failure: string | null;
        }[];
      }[];
    };
  };
  'destinations.try_now': {
    input: {
      destination: string;
    };
    answer: {
      tried: true;
      replayed: number;
    };
  };
  'comparisons.list': {
    input: {
      integration?: string | undefined;
      destination?: string | undefined;
    };
    answer: {
      items: {
        destination: string;
        integration: string;
        started_at: string;
        finished_at: string;
        part: string | null;
        complete: boolean;
        reason: string | null;
        counts: {
          compared: number;
          equal: number;
          waiting: number;
          behind: number;
          changed: number;
          missing: number;
          only_there: number;
          not_readable: number;
          erased_there: number;
          wrongly_there: number;
          repaired: number;
        };
        differences: {
          integration: string;
          id: string;
          type: "reservation" | "guest";
          kind: "equal" | "waiting" | "behind" | "changed" | "missing" | "only_there" | "not_readable";
          paths?: string[] | undefined;
          reason?: string | undefined;
          version_here: number | null;
          version_there?: number | undefined;
        }[];
      }[];
    };
  };
  'deliveries.list': {
    input: {
      integration?: string | undefined;
      destination?: string | undefined;
      state?: "waiting" | "retrying" | "held" | undefined;
      limit?: number | undefined;
    };
    answer: {
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
        waits_for: "release" | "document" | "worker" | null;
        held_by: string | null;
        last_code: string | null;
        last_message: string | null;
        last_at: string | null;
      }[];
    };
  };
  'dead_letters.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      integration?: string | undefined;
      kind?: "event" | "record" | "delivery" | undefined;
      destination?: string | undefined;
      code?: string | undefined;
      record_id?: string | undefined;
      message?: string | undefined;
      q?: string | undefined;
      state?: "open" | "replayed" | "dropped" | "all" | undefined;
    };
    answer: {
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
  };
  'dead_letters.reasons': {
    input: {
      integration?: string | undefined;
      kind?: "event" | "record" | "delivery" | undefined;
      destination?: string | undefined;
      code?: string | undefined;
      record_id?: string | undefined;
      message?: string | undefined;
      q?: string | undefined;
      state?: "open" | "replayed" | "dropped" | "all" | undefined;
    };
    answer: {
      items: {
        code: string;
        message: string;
        kind: "event" | "record" | "delivery";
        destination: string | null;
        records: number;
        times: number;
        integrations: string[];
        brands: number;
        ids: string[];
        newest: string;
        at: string;
        last_at: string;
      }[];
    };
  };
  'dead_letters.get': {
    input: {
      id: string;
    };
    answer: {
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
      advice: string;
      at_partner: boolean;
      marks: string[];
    };
  };
  'dead_letters.preview': {
    input: {
      id: string;
      under?: "today" | "recorded" | undefined;
    };
    answer: {
      kind: "ready";
      record: {
        type: "reservation" | "guest";
        id: string;
      };
      before?: Json | undefined;
      after: Json;
      diff: {
        path: string;
        before?: Json | undefined;
        after?: Json | undefined;
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
  };
  'dead_letters.candidates': {
    input: {
      id: string;
    };
    answer: {
      items: {
        at: {
          profile: string;
        } | {
          reservation: string;
          place: number;
        };
        person: {
          first_name?: string | undefined;
          last_name?: string | undefined;
          email?: string | undefined;
          phone?: string | undefined;
          guest_id?: string | undefined;
          date_of_birth?: string | undefined;
          nationality?: string | undefined;
          marketing_consent?: boolean | undefined;
        } | null;
        stay?: {
          check_in: string;
          check_out: string;
          status: string;
        } | undefined;
      }[];
    };
  };
  'dead_letters.assign': {
    input: {
      id: string;
      to: {
        profile: string;
      } | {
        reservation: string;
        place: number;
      };
    };
    answer: {
      result: "assigned" | "still_open";
      message?: string | undefined;
    };
  };
  'dead_letters.replay': {
    input: {
      id: string;
      under?: "today" | "recorded" | undefined;
    };
    answer: {
      id: string;
      result: "replayed" | "still_failing" | "gone";
      code?: string | undefined;
      message?: string | undefined;
    };
  };
  'dead_letters.replay_many': {
    input: {
      integration?: string | undefined;
      kind?: "event" | "record" | "delivery" | undefined;
      destination?: string | undefined;
      code?: string | undefined;
      record_id?: string | undefined;
      message?: string | undefined;
      q?: string | undefined;
      ids?: string[] | undefined;
      under?: "today" | "recorded" | undefined;
    };
    answer: {
      results: {
        id: string;
        result: "replayed" | "still_failing" | "gone";
        code?: string | undefined;
        message?: string | undefined;
      }[];
      remaining: number;
    };
  };
  'dead_letters.drop': {
    input: {
      id: string;
      reason: string;
    };
    answer: {
      dropped: true;
    };
  };
  'holds.list': {
    input: {
      integration?: string | undefined;
      state?: "open" | "ended" | "released" | "refused" | undefined;
    };
    answer: {
      items: {
        id: string;
        integration: string;
        feed: "pull" | "push";
        kind: string;
        path?: string | undefined;
        share_before: number;
        share_now: number;
        rows: number;
        waiting: number;
        state: "open" | "ended" | "released" | "refused";
        message: string;
        at: string;
        closed_at?: string | undefined;
        closed_by?: string | undefined;
      }[];
    };
  };
  'holds.preview': {
    input: {
      hold_id: string;
      cursor?: string | undefined;
    };
    answer: {
      hold: {
        id: string;
        integration: string;
        feed: "pull" | "push";
        kind: string;
        path?: string | undefined;
        share_before: number;
        share_now: number;
        rows: number;
        waiting: number;
        state: "open" | "ended" | "released" | "refused";
        message: string;
        at: string;
        closed_at?: string | undefined;
        closed_by?: string | undefined;
      };
      remedy?: {
        connector: string;
        path: string;
        from: string;
        sample: Json;
      } | undefined;
      rows: {
        reservation_id: string;
        diff: {
          path: string;
          before?: Json | undefined;
          after?: Json | undefined;
        }[];
      }[];
      next_cursor: string | null;
    };
  };
  'holds.release': {
    input: {
      hold_id: string;
      reservations?: string[] | undefined;
    };
    answer: {
      hold: {
        id: string;
        integration: string;
        feed: "pull" | "push";
        kind: string;
        path?: string | undefined;
        share_before: number;
        share_now: number;
        rows: number;
        waiting: number;
        state: "open" | "ended" | "released" | "refused";
        message: string;
        at: string;
        closed_at?: string | undefined;
        closed_by?: string | undefined;
      };
      released: number;
    };
  };
  'holds.refuse': {
    input: {
      hold_id: string;
    };
    answer: {
      hold: {
        id: string;
        integration: string;
        feed: "pull" | "push";
        kind: string;
        path?: string | undefined;
        share_before: number;
        share_now: number;
        rows: number;
        waiting: number;
        state: "open" | "ended" | "released" | "refused";
        message: string;
        at: string;
        closed_at?: string | undefined;
        closed_by?: string | undefined;
      };
      refused: number;
    };
  };
  'jobs.preview': {
    input: {
      operation: "replay";
      integration?: string | undefined;
      kind?: "event" | "record" | "delivery" | undefined;
      destination?: string | undefined;
      code?: string | undefined;
      message?: string | undefined;
      under?: "today" | "recorded" | undefined;
    } | {
      operation: "resend";
      destination: string;
      integration?: string | undefined;
    } | {
      operation: "reprocess";
      integration: string;
      from?: string | undefined;
      to?: string | undefined;
      refetch?: boolean | undefined;
    } | {
      operation: "audit";
      destination: string;
      integration?: string | undefined;
      since?: string | undefined;
      sample?: number | undefined;
      repair?: boolean | undefined;
    };
    answer: {
      total: number;
      looked_at: number | null;
      counts: {
        label: string;
        count: number;
      }[];
      samples: {
        integration: string;
        id: string;
        text: string | null;
        diff: Json;
      }[];
    };
  };
  'jobs.start': {
    input: {
      operation: "replay";
      integration?: string | undefined;
      kind?: "event" | "record" | "delivery" | undefined;
      destination?: string | undefined;
      code?: string | undefined;
      message?: string | undefined;
      under?: "today" | "recorded" | undefined;
    } | {
      operation: "resend";
      destination: string;
      integration?: string | undefined;
    } | {
      operation: "reprocess";
      integration: string;
      from?: string | undefined;
      to?: string | undefined;
      refetch?: boolean | undefined;
    } | {
      operation: "audit";
      destination: string;
      integration?: string | undefined;
      since?: string | undefined;
      sample?: number | undefined;
      repair?: boolean | undefined;
    };
    answer: {
      job_id: string;
      operation: "replay" | "resend" | "reprocess" | "audit";
      integrations: string[] | null;
      request: Json;
      requested_by: string;
      requested_at: string;
      state: "queued" | "running" | "done" | "stopped" | "failed";
      total: number;
      done: number;
      counts: Record<string, number>;
      refusals: {
        id: string;
        reason: string;
      }[];
      finished_at: string | null;
      stopped_by: string | null;
      code: string | null;
      message: string | null;
    };
  };
  'jobs.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
    };
    answer: {
      items: {
        job_id: string;
        operation: "replay" | "resend" | "reprocess" | "audit";
        integrations: string[] | null;
        request: Json;
        requested_by: string;
        requested_at: string;
        state: "queued" | "running" | "done" | "stopped" | "failed";
        total: number;
        done: number;
        counts: Record<string, number>;
        refusals: {
          id: string;
          reason: string;
        }[];
        finished_at: string | null;
        stopped_by: string | null;
        code: string | null;
        message: string | null;
      }[];
      next_cursor: string | null;
    };
  };
  'jobs.get': {
    input: {
      job_id: string;
    };
    answer: {
      job_id: string;
      operation: "replay" | "resend" | "reprocess" | "audit";
      integrations: string[] | null;
      request: Json;
      requested_by: string;
      requested_at: string;
      state: "queued" | "running" | "done" | "stopped" | "failed";
      total: number;
      done: number;
      counts: Record<string, number>;
      refusals: {
        id: string;
        reason: string;
      }[];
      finished_at: string | null;
      stopped_by: string | null;
      code: string | null;
      message: string | null;
      delivery: {
        waiting: number;
        held: number;
      } | null;
    };
  };
  'jobs.stop': {
    input: {
      job_id: string;
    };
    answer: {
      job_id: string;
      operation: "replay" | "resend" | "reprocess" | "audit";
      integrations: string[] | null;
      request: Json;
      requested_by: string;
      requested_at: string;
      state: "queued" | "running" | "done" | "stopped" | "failed";
      total: number;
      done: number;
      counts: Record<string, number>;
      refusals: {
        id: string;
        reason: string;
      }[];
      finished_at: string | null;
      stopped_by: string | null;
      code: string | null;
      message: string | null;
    };
  };
  'alerts.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      integration?: string | undefined;
      state?: "open" | "all" | undefined;
    };
    answer: {
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
  };
  'alerts.acknowledge': {
    input: {
      alert_id: string;
    };
    answer: {
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
  };
  'alert_routes.list': {
    input: {};
    answer: {
      items: {
        route: string;
        type: "slack" | "teams" | "pagerduty" | "opsgenie" | "email" | "webhook";
        severities: string[];
        integrations: string[] | null;
        quiet: {
          from: string;
          to: string;
          timezone: string;
        } | null;
        waiting: number;
        failure: string | null;
        last_sent_at: string | null;
      }[];
    };
  };
  'alert_routes.test': {
    input: {
      route: string;
    };
    answer: {
      sent: boolean;
      failure: string | null;
    };
  };
  'incidents.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      state?: "open" | "all" | undefined;
      from?: string | undefined;
      to?: string | undefined;
    };
    answer: {
      items: {
        incident_id: string;
        cause: string;
        severity: "warning" | "critical";
        message: string;
        alerts: number;
        integrations: string[];
        started_at: string;
        ended_at: string | null;
        acknowledged_at: string | null;
        acknowledged_by: string | null;
        title: string;
      }[];
      next_cursor: string | null;
    };
  };
  'incidents.get': {
    input: {
      incident_id: string;
    };
    answer: {
      incident_id: string;
      cause: string;
      severity: "warning" | "critical";
      message: string;
      alerts: number;
      integrations: string[];
      started_at: string;
      ended_at: string | null;
      acknowledged_at: string | null;
      acknowledged_by: string | null;
      title: string;
      brands: string[];
      alert_list: {
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
      effect: {
        waiting?: number | undefined;
        dead_letters?: number | undefined;
        waiting_runs?: number | undefined;
        failed_attempts?: number | undefined;
        failed_runs?: number | undefined;
        complete_runs?: number | undefined;
        refused_events?: number | undefined;
      };
      tried: {
        at: string;
        actor: string;
        action: string;
        integration: string | null;
        what: string;
      }[];
      advice: string[];
    };
  };
  'incidents.acknowledge': {
    input: {
      incident_id: string;
    };
    answer: {
      incident_id: string;
      cause: string;
      severity: "warning" | "critical";
      message: string;
      alerts: number;
      integrations: string[];
      started_at: string;
      ended_at: string | null;
      acknowledged_at: string | null;
      acknowledged_by: string | null;
      title: string;
      brands: string[];
      alert_list: {
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
      effect: {
        waiting?: number | undefined;
        dead_letters?: number | undefined;
        waiting_runs?: number | undefined;
        failed_attempts?: number | undefined;
        failed_runs?: number | undefined;
        complete_runs?: number | undefined;
        refused_events?: number | undefined;
      };
      tried: {
        at: string;
        actor: string;
        action: string;
        integration: string | null;
        what: string;
      }[];
      advice: string[];
    };
  };
  'documents.list': {
    input: {
      kind?: "connector" | "integration" | "destination" | "workspace" | undefined;
    };
    answer: {
      items: {
        kind: "connector" | "integration" | "destination" | "workspace";
        name: string;
        version: number;
        applied_at: string;
        applied_by: string;
      }[];
    };
  };
  'connectors.list': {
    input: {
      search?: string | undefined;
    };
    answer: {
      items: {
        name: string;
        title: string | null;
        description: string | null;
        shipped: boolean;
        system: {
          name: string;
          title: string;
          description: string;
          vendor: string;
          market: string;
          aliases: string[];
          basis: "live" | "vendor" | "clients";
          auth?: string | undefined;
          list?: "changes" | "stays" | "queue" | undefined;
          single: boolean;
          events?: "webhooks" | "stream" | undefined;
          fields: string[];
          integration: string;
          credentials: string[];
        } | null;
      }[];
    };
  };
  'documents.get': {
    input: {
      kind: "connector" | "integration" | "destination" | "workspace";
      name: string;
      version?: number | undefined;
    };
    answer: {
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
  };
  'documents.apply': {
    input: {
      kind: "connector" | "integration" | "destination" | "workspace";
      name: string;
      text: string;
      accept_cases?: boolean | undefined;
      replaces?: number | undefined;
    };
    answer: {
      version: number;
      file: string;
    };
  };
  'documents.remove': {
    input: {
      kind: "connector" | "integration" | "destination" | "workspace";
      name: string;
    };
    answer: {
      version: number;
      file: string;
    };
  };
  'documents.impact': {
    input: {
      kind: "connector" | "integration" | "destination" | "workspace";
      name: string;
    };
    answer: {
      integrations: string[];
      records: {
        reservation: number;
        guest: number;
      };
    };
  };
  'documents.schema': {
    input: {
      kind: "connector" | "integration" | "destination" | "workspace";
    };
    answer: Json;
  };
  'documents.validate': {
    input: {
      kind: "connector" | "integration" | "destination" | "workspace";
      name?: string | undefined;
      text: string;
    };
    answer: {
      valid: boolean;
      mistakes: {
        file: string;
        line: number;
        column: number;
        path: string;
        message: string;
        suggestion?: string | undefined;
      }[];
      warnings: {
        file: string;
        line: number;
        column: number;
        path: string;
        message: string;
        suggestion?: string | undefined;
        severity: "warning";
      }[];
      holds_credentials: boolean;
    };
  };
  'spellings.unknown': {
    input: {};
    answer: {
      items: {
        field: "channel" | "source" | "board";
        value: string;
        times: number;
        brands: string[];
        last_at: string;
        known: string[];
        likely: string | null;
      }[];
    };
  };
  'spellings.add': {
    input: {
      field: "channel" | "source" | "board";
      value: string;
      as: string;
    };
    answer: {
      version: number;
      file: string;
    };
  };
  'map.preview': {
    input: {
      connector: string;
      sample: string;
      integration?: string | undefined;
      timezone?: string | undefined;
      country?: string | undefined;
      push?: boolean | undefined;
      limit?: number | undefined;
    };
    answer: {
      mistakes: {
        line: number;
        column: number;
        path: string;
        message: string;
      }[];
      problem?: {
        code: string;
        message: string;
      } | undefined;
      total: number;
      records: {
        kind: "record" | "dropped" | "dead";
        id?: string | undefined;
        record?: Json | undefined;
        notes?: {
          step: "shape" | "normalize" | "transform" | "reconcile";
          field: string;
          code: string;
          reason: string;
          before?: Json | undefined;
          after?: Json | undefined;
        }[] | undefined;
        origins?: Record<string, string> | undefined;
        unmapped?: string[] | undefined;
        raw?: Json | undefined;
        code?: string | undefined;
        message?: string | undefined;
      }[];
      unmatched: {
        at: string;
        path: string;
      }[];
      repeated: {
        id: string;
        times: number;
      }[];
      filled: {
        field: string;
        filled: number;
        of: number;
      }[];
      unlisted: {
        status: string;
        times: number;
      }[];
    };
  };
  'map.suggest': {
    input: {
      sample: string;
      name?: string | undefined;
    };
    answer: {
      connector: string;
      fields: Json[];
      unmapped: string[];
      unknown: string[];
    };
  };
  'map.assign': {
    input: {
      connector: string;
      field: string;
      path: string;
      lookup?: {
        in: string;
        key: string;
        value: string;
      } | undefined;
    };
    answer: {
      connector: string;
    };
  };
  'map.effect': {
    input: {
      integration: string;
      connector: string;
    };
    answer: {
      records: number;
      changed: number;
      unchanged: number;
      refused: number;
      samples: {
        id: string;
        diff: Json;
      }[];
    };
  };
  'map.fetch': {
    input: {
      integration: string;
    };
    answer: {
      sample: string;
      window: {
        from: string;
        to: string;
      };
      request?: {
        method: string;
        url: string;
        headers: Record<string, string>;
        body?: string | undefined;
        status?: number | undefined;
        duration_ms?: number | undefined;
        failure?: string | undefined;
        answer?: string | undefined;
      } | undefined;
    };
  };
  'map.import': {
    input: {
      description: string;
      name?: string | undefined;
      operation?: string | undefined;
      sample?: string | undefined;
    };
    answer: {
      format: string;
      connector: string;
      integration: Json;
      operations: {
        operation: string;
        score: number;
        reason: string;
      }[];
      fields: {
        field: string;
        path: string;
        confidence: number;
        reason: string;
      }[];
      unmapped: string[];
      unknown: string[];
      notes: string[];
    };
  };
  'cases.check': {
    input: {
      connector: string;
      text: string;
    };
    answer: {
      items: {
        name: string;
        sample: string;
        push: boolean;
        timezone: string | null;
        country: string | null;
        saved_at: string;
        saved_by: string;
        passes: boolean;
        diff: {
          path: string;
          before?: Json | undefined;
          after?: Json | undefined;
        }[];
        message: string | null;
      }[];
    };
  };
  'cases.save': {
    input: {
      connector: string;
      name: string;
      text: string;
      sample: string;
      push?: boolean | undefined;
      timezone?: string | undefined;
      country?: string | undefined;
    };
    answer: {
      saved: true;
    };
  };
  'cases.remove': {
    input: {
      connector: string;
      name: string;
    };
    answer: {
      removed: true;
    };
  };
  'secrets.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      q?: string | undefined;
    };
    answer: {
      items: {
        name: string;
        updated_at: string;
        used_by: {
          kind: "connector" | "integration" | "destination" | "workspace";
          name: string;
        }[];
      }[];
      next_cursor: string | null;
    };
  };
  'secrets.put': {
    input: {
      name: string;
      value: string;
    };
    answer: {
      name: string;
    };
  };
  'secrets.delete': {
    input: {
      name: string;
    };
    answer: {
      deleted: true;
    };
  };
  'privacy.erase': {
    input: {
      email?: string | undefined;
      phone?: string | undefined;
      guest_id?: string | undefined;
      integration?: string | undefined;
    };
    answer: {
      erasure_id: string;
      state: "running" | "stopped" | "interrupted" | "notifying" | "done";
      progress: {
        place: string;
        done: number;
        of: number;
      } | null;
      stopped_at: string | null;
      stopped_by: string | null;
      requested_at: string;
      completed_at: string | null;
      confirmed_at: string | null;
      requested_by: string;
      subject: string;
      removed: Record<string, number>;
      notified: {
        integration: string;
        destination: string;
        records: number;
        confirmed: number;
        passed_over: number;
        dropped: number;
        not_notified: number;
        given_up: number;
        confirmed_at: string | null;
      }[];
    };
  };
  'privacy.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
    };
    answer: {
      items: {
        erasure_id: string;
        state: "running" | "stopped" | "interrupted" | "notifying" | "done";
        progress: {
          place: string;
          done: number;
          of: number;
        } | null;
        stopped_at: string | null;
        stopped_by: string | null;
        requested_at: string;
        completed_at: string | null;
        confirmed_at: string | null;
        requested_by: string;
        subject: string;
        removed: Record<string, number>;
        notified: {
          integration: string;
          destination: string;
          records: number;
          confirmed: number;
          passed_over: number;
          dropped: number;
          not_notified: number;
          given_up: number;
          confirmed_at: string | null;
        }[];
      }[];
      next_cursor: string | null;
    };
  };
  'privacy.preview': {
    input: {
      email?: string | undefined;
      phone?: string | undefined;
      guest_id?: string | undefined;
      integration?: string | undefined;
    };
    answer: {
      removed: Record<string, number>;
      records: {
        integration: string;
        type: string;
        id: string;
      }[];
      notified: {
        integration: string;
        destination: string;
        records: number;
        confirmed: number;
        passed_over: number;
        dropped: number;
        not_notified: number;
        given_up: number;
        confirmed_at: string | null;
      }[];
    };
  };
  'privacy.export': {
    input: {
      email?: string | undefined;
      phone?: string | undefined;
      guest_id?: string | undefined;
      integration?: string | undefined;
    };
    answer: {
      records: Json[];
      payloads: {
        place: string;
        key: string;
        parts: Json[];
      }[];
      delivered: Json[];
    };
  };
  'privacy.find': {
    input: {
      email?: string | undefined;
      phone?: string | undefined;
      guest_id?: string | undefined;
      integration?: string | undefined;
    };
    answer: {
      items: {
        erasure_id: string;
        state: "running" | "stopped" | "interrupted" | "notifying" | "done";
        progress: {
          place: string;
          done: number;
          of: number;
        } | null;
        stopped_at: string | null;
        stopped_by: string | null;
        requested_at: string;
        completed_at: string | null;
        confirmed_at: string | null;
        requested_by: string;
        subject: string;
        removed: Record<string, number>;
        notified: {
          integration: string;
          destination: string;
          records: number;
          confirmed: number;
          passed_over: number;
          dropped: number;
          not_notified: number;
          given_up: number;
          confirmed_at: string | null;
        }[];
      }[];
    };
  };
  'privacy.get': {
    input: {
      erasure_id: string;
    };
    answer: {
      erasure_id: string;
      state: "running" | "stopped" | "interrupted" | "notifying" | "done";
      progress: {
        place: string;
        done: number;
        of: number;
      } | null;
      stopped_at: string | null;
      stopped_by: string | null;
      requested_at: string;
      completed_at: string | null;
      confirmed_at: string | null;
      requested_by: string;
      subject: string;
      removed: Record<string, number>;
      notified: {
        integration: string;
        destination: string;
        records: number;
        confirmed: number;
        passed_over: number;
        dropped: number;
        not_notified: number;
        given_up: number;
        confirmed_at: string | null;
      }[];
    };
  };
  'privacy.stop': {
    input: {
      erasure_id: string;
    };
    answer: {
      erasure_id: string;
      state: "running" | "stopped" | "interrupted" | "notifying" | "done";
      progress: {
        place: string;
        done: number;
        of: number;
      } | null;
      stopped_at: string | null;
      stopped_by: string | null;
      requested_at: string;
      completed_at: string | null;
      confirmed_at: string | null;
      requested_by: string;
      subject: string;
      removed: Record<string, number>;
      notified: {
        integration: string;
        destination: string;
        records: number;
        confirmed: number;
        passed_over: number;
        dropped: number;
        not_notified: number;
        given_up: number;
        confirmed_at: string | null;
      }[];
    };
  };
  'tokens.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      of?: "people" | "programs" | undefined;
    };
    answer: {
      items: {
        token_id: string;
        kind: "api" | "sign_in" | "session";
        name: string;
        role: "feed" | "viewer" | "operator" | "admin";
        integrations: string[] | null;
        created_at: string;
        created_by: string;
        expires_at: string | null;
        last_used_at: string | null;
        revoked_at: string | null;
        subject: string | null;
      }[];
      next_cursor: string | null;
    };
  };
  'tokens.create': {
    input: {
      name: string;
      integrations?: string[] | null | undefined;
      role: "feed" | "viewer" | "operator" | "admin";
      days?: number | undefined;
    };
    answer: {
      token_id: string;
      kind: "api" | "sign_in" | "session";
      name: string;
      role: "feed" | "viewer" | "operator" | "admin";
      integrations: string[] | null;
      created_at: string;
      created_by: string;
      expires_at: string | null;
      last_used_at: string | null;
      revoked_at: string | null;
      subject: string | null;
      token: string;
    };
  };
  'tokens.revoke': {
    input: {
      token_id: string;
    };
    answer: {
      revoked: true;
    };
  };
  'tokens.sign_in_link': {
    input: {
      name: string;
      integrations?: string[] | null | undefined;
      role: "viewer" | "operator" | "admin";
    };
    answer: {
      url: string;
      expires_at: string;
    };
  };
  'audit.list': {
    input: {
      cursor?: string | undefined;
      limit?: number | undefined;
      action?: string | undefined;
      actor?: string | undefined;
      integration?: string | undefined;
    };
    answer: {
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
  };
}

/** The method and path of each operation. */
export const places: { readonly [Id in keyof Operations]: readonly [method: string, path: string] } = {
  'session.create': ['POST', '/session'],
  'session.get': ['GET', '/session'],
  'session.end': ['DELETE', '/session'],
  'session.end_everywhere': ['DELETE', '/session/everywhere'],
  'session.ways': ['GET', '/session/ways'],
  'session.oidc': ['POST', '/session/oidc'],
  'overview.get': ['GET', '/overview'],
  'overview.days': ['GET', '/overview/days'],
  'overview.flow': ['GET', '/overview/flow'],
  'overview.marks': ['GET', '/overview/marks'],
  'integrations.list': ['GET', '/integrations'],
  'groups.list': ['GET', '/groups'],
  'integrations.get': ['GET', '/integrations/{integration}'],
  'integrations.pause': ['POST', '/integrations/{integration}/pause'],
  'integrations.start': ['POST', '/integrations/{integration}/start'],
  'integrations.resume': ['POST', '/integrations/{integration}/resume'],
  'integrations.try_now': ['POST', '/integrations/{integration}/try-now'],
  'integrations.refetch': ['POST', '/integrations/{integration}/refetch'],
  'integrations.resend': ['POST', '/integrations/{integration}/resend'],
  'integrations.preview_release': ['GET', '/integrations/{integration}/release/{destination}'],
  'integrations.release': ['POST', '/integrations/{integration}/release/{destination}'],
  'integrations.consent': ['POST', '/integrations/{integration}/consent'],
  'integrations.run': ['POST', '/integrations/{integration}/runs'],
  'integrations.backfill': ['POST', '/integrations/{integration}/backfill'],
  'integrations.quality': ['GET', '/integrations/{integration}/quality'],
  'integrations.feed': ['GET', '/integrations/{integration}/feed'],
  'integrations.unlisted': ['GET', '/integrations/{integration}/unlisted'],
  'integrations.push_gaps': ['GET', '/integrations/{integration}/push-gaps'],
  'integrations.hotel': ['GET', '/integrations/{integration}/hotel'],
  'integrations.budget': ['PUT', '/integrations/{integration}/budgets/{month}'],
  'integrations.dry_run': ['POST', '/integrations/{integration}/dry-run'],
  'endpoint.get': ['GET', '/integrations/{integration}/endpoint'],
  'endpoint.issue': ['POST', '/integrations/{integration}/endpoint'],
  'endpoint.retire': ['DELETE', '/integrations/{integration}/endpoint'],
  'endpoint.rotate': ['POST', '/integrations/{integration}/endpoint/rotate'],
  'rejections.list': ['GET', '/integrations/{integration}/rejections'],
  'rejections.unknown': ['GET', '/rejections'],
  'sandbox.list': ['GET', '/integrations/{integration}/sandbox-reports'],
  'sandbox.get': ['GET', '/integrations/{integration}/sandbox-reports/{report_id}'],
  'onboarding.list': ['GET', '/onboarding-links'],
  'onboarding.create': ['POST', '/integrations/{integration}/onboarding-links'],
  'onboarding.get': ['GET', '/onboarding-links/{link_id}'],
  'onboarding.revoke': ['DELETE', '/onboarding-links/{link_id}'],
  'onboarding.answer': ['POST', '/onboarding-links/{link_id}/comments'],
  'onboarding.approve': ['POST', '/onboarding-links/{link_id}/approve'],
  'partner.open': ['POST', '/onboarding/{link_id}/open'],
  'runs.list': ['GET', '/runs'],
  'runs.get': ['GET', '/runs/{run_id}'],
  'runs.rows': ['GET', '/runs/{run_id}/rows'],
  'runs.partner_text': ['GET', '/runs/{run_id}/partner-text'],
  'events.list': ['GET', '/events'],
  'events.get': ['GET', '/integrations/{integration}/events/{seq}'],
  'reservations.search': ['GET', '/reservations'],
  'reservations.timeline': ['GET', '/integrations/{integration}/reservations/{id}'],
  'arrivals.search': ['GET', '/arrivals'],
  'guests.search': ['GET', '/guests'],
  'guests.timeline': ['GET', '/integrations/{integration}/guests/{id}'],
  'guests.stays': ['GET', '/integrations/{integration}/guests/{id}/stays'],
  'guests.pairs': ['GET', '/integrations/{integration}/guest-pairs'],
  'guests.not_same': ['POST', '/integrations/{integration}/guests/{id}/not-same'],
  'guests.shared_addresses': ['GET', '/integrations/{integration}/shared-addresses'],
  'guests.merge': ['POST', '/integrations/{integration}/guests/{id}/merge'],
  'guests.split': ['POST', '/integrations/{integration}/guests/{id}/split'],
  'changes.read': ['GET', '/changes'],
  'destinations.list': ['GET', '/destinations'],
  'destinations.try_now': ['POST', '/destinations/{destination}/try-now'],
  'comparisons.list': ['GET', '/comparisons'],
  'deliveries.list': ['GET', '/deliveries'],
  'dead_letters.list': ['GET', '/dead-letters'],
  'dead_letters.reasons': ['GET', '/dead-letter-reasons'],
  'dead_letters.get': ['GET', '/dead-letters/{id}'],
  'dead_letters.preview': ['GET', '/dead-letters/{id}/preview'],
  'dead_letters.candidates': ['GET', '/dead-letters/{id}/candidates'],
  'dead_letters.assign': ['POST', '/dead-letters/{id}/assign'],
  'dead_letters.replay': ['POST', '/dead-letters/{id}/replay'],
  'dead_letters.replay_many': ['POST', '/dead-letters/replay'],
  'dead_letters.drop': ['POST', '/dead-letters/{id}/drop'],
  'holds.list': ['GET', '/holds'],
  'holds.preview': ['GET', '/holds/{hold_id}/preview'],
  'holds.release': ['POST', '/holds/{hold_id}/release'],
  'holds.refuse': ['POST', '/holds/{hold_id}/refuse'],
  'jobs.preview': ['POST', '/jobs/preview'],
  'jobs.start': ['POST', '/jobs'],
  'jobs.list': ['GET', '/jobs'],
  'jobs.get': ['GET', '/jobs/{job_id}'],
  'jobs.stop': ['POST', '/jobs/{job_id}/stop'],
  'alerts.list': ['GET', '/alerts'],
  'alerts.acknowledge': ['POST', '/alerts/{alert_id}/acknowledge'],
  'alert_routes.list': ['GET', '/alert-routes'],
  'alert_routes.test': ['POST', '/alert-routes/{route}/test'],
  'incidents.list': ['GET', '/incidents'],
  'incidents.get': ['GET', '/incidents/{incident_id}'],
  'incidents.acknowledge': ['POST', '/incidents/{incident_id}/acknowledge'],
  'documents.list': ['GET', '/documents'],
  'connectors.list': ['GET', '/connectors'],
  'documents.get': ['GET', '/documents/{kind}/{name}'],
  'documents.apply': ['PUT', '/documents/{kind}/{name}'],
  'documents.remove': ['DELETE', '/documents/{kind}/{name}'],
  'documents.impact': ['GET', '/documents/{kind}/{name}/impact'],
  'documents.schema': ['GET', '/schemas/{kind}'],
  'documents.validate': ['POST', '/documents/validate'],
  'spellings.unknown': ['GET', '/spellings/unknown'],
  'spellings.add': ['POST', '/spellings'],
  'map.preview': ['POST', '/map/preview'],
  'map.suggest': ['POST', '/map/suggest'],
  'map.assign': ['POST', '/map/assign'],
  'map.effect': ['POST', '/integrations/{integration}/mapping-effect'],
  'map.fetch': ['POST', '/integrations/{integration}/sample'],
  'map.import': ['POST', '/import'],
  'cases.check': ['POST', '/connectors/{connector}/cases/check'],
  'cases.save': ['PUT', '/connectors/{connector}/cases/{name}'],
  'cases.remove': ['DELETE', '/connectors/{connector}/cases/{name}'],
  'secrets.list': ['GET', '/secrets'],
  'secrets.put': ['PUT', '/secrets/{name}'],
  'secrets.delete': ['DELETE', '/secrets/{name}'],
  'privacy.erase': ['POST', '/privacy/erasures'],
  'privacy.list': ['GET', '/privacy/erasures'],
  'privacy.preview': ['POST', '/privacy/erasures/preview'],
  'privacy.export': ['POST', '/privacy/exports'],
  'privacy.find': ['POST', '/privacy/erasures/find'],
  'privacy.get': ['GET', '/privacy/erasures/{erasure_id}'],
  'privacy.stop': ['POST', '/privacy/erasures/{erasure_id}/stop'],
  'tokens.list': ['GET', '/tokens'],
  'tokens.create': ['POST', '/tokens'],
  'tokens.revoke': ['DELETE', '/tokens/{token_id}'],
  'tokens.sign_in_link': ['POST', '/sign-in-links'],
  'audit.list': ['GET', '/audit'],
};
