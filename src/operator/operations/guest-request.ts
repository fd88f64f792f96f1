import { z } from 'zod';
import { longestId } from '../../core/canonical/field-check.ts';
import { readEmail } from '../../core/normalize/email.ts';
import { readPhone } from '../../core/normalize/phone.ts';
import { noIntegration } from '../../errors/no-integration.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { askedIdentity, guestIdIdentity, payloadIdentities } from '../privacy/identity.ts';
import { Person } from '../privacy/person.ts';

/** Whom to erase. With several keys, everything that matches any of them is erased. */
export const eraseRequest = z.strictObject({
  email: z.string().max(320).optional(),
  phone: z.string().max(40).optional(),
  guest_id: z.string().max(longestId).optional(),
  /** Only this integration; required with guest_id, which is unique only within one. */
  integration: z.string().optional(),
});
export type EraseRequest = z.infer<typeof eraseRequest>;

export interface ReadRequest {
  readonly identities: readonly string[];
  /** What recognises the guest in payloads that never became a record. */
  readonly inPayloads: readonly string[];
  readonly person: Person;
}

const invalid = (message: string): InnboundError => new InnboundError('operate.invalid_input', message);

/** Who an erasure or an access request is about. Addresses and numbers are normalized as the pipeline does for guests. */
export function readGuestRequest(runtime: Runtime, { email, phone, guest_id, integration }: EraseRequest): ReadRequest {
  const brand = integration === undefined ? undefined : runtime.active().integrations.get(integration);
  if (integration !== undefined && brand === undefined) throw invalid(noIntegration(integration));
  const identities: string[] = [];
  const emails: string[] = [];
  const phones: string[] = [];
  if (email !== undefined) {
    const given = email.trim().toLowerCase();
    if (!/^[^\s@]+@[^\s@]+$/.test(given)) throw invalid('This is not an e-mail address.');
    const reading = readEmail(given);
    // Records keep an impossible address as it was sent; it must be erasable too.
    const address = reading.kind === 'address' ? reading.address : given;
    identities.push(askedIdentity('email', address, integration));
    emails.push(...new Set([address, given]));
  }
  if (phone !== undefined) {
    const dialled = readPhone(phone, { country: brand?.body.country });
    if (dialled.kind !== 'number') throw invalid('Give the phone number in international format, with a leading +.');
    identities.push(askedIdentity('phone', dialled.e164, integration));
    phones.push(dialled.e164);
  }
  if (guest_id !== undefined) {
    if (integration === undefined)
      throw invalid('A guest_id is unique only within its integration: give the integration too.');
    identities.push(guestIdIdentity(guest_id, integration));
  }
  if (identities.length === 0) throw invalid('Give an e-mail address, a phone number or a guest_id.');
  const guestIds = guest_id === undefined ? [] : [guest_id];
  const inPayloads = phones.flatMap((one) => payloadIdentities({ phone: one }, integration));
  return { identities, inPayloads, person: new Person({ emails, phones, guestIds, integration }) };
}
