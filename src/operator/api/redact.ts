import { fieldNames } from '../../core/canonical/fields.ts';

/**
 * Masks personal data for viewers: they see that a payload exists, when it arrived and what it changed, not whom it concerns.
 * Operators and admins see it unmasked, which is audited.
 */
const personal = fieldNames((field) => field.personal);
/** Data of partners and destinations as they sent it: any of its fields may be personal. */
const asSent = new Set(['raw', 'body', 'extra', 'sample', 'report', 'answer']);
const mask = '•••';
const ofGuests = /^(?:guests|extra)\b|^$/;

export function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const about = 'path' in value ? value.path : 'field' in value ? value.field : undefined;
  const hidesChange = typeof about === 'string' && (ofGuests.test(about) || personal.has(about));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (asSent.has(key)) return [key, inner === null ? null : mask];
      if (personal.has(key) && typeof inner === 'string') return [key, mask];
      if (hidesChange && (key === 'before' || key === 'after')) return [key, mask];
      return [key, redacted(inner)];
    }),
  );
}

/** Responses without payloads: only the partner's guest ids are masked. */
export function withoutGuestIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutGuestIds);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'guest_id' && typeof inner === 'string' ? mask : withoutGuestIds(inner),
    ]),
  );
}
