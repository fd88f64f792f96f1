-- additive
alter table events add column trace text;
alter table changes add column trace text;
comment on column events.trace is 'W3C traceparent of the span that accepted the event; null without tracing.';
comment on column changes.trace is 'W3C traceparent of the span that made the version, which its deliveries continue; null without tracing.';
