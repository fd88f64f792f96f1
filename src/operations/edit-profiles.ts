import { createHash } from 'node:crypto';
import type { Brand } from '../brand/brand.ts';
import { InnboundError } from '../errors.ts';
import type { GuestKeyKind } from '../persons/identifiers.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { mergeProfiles, splitProfile } from '../store/persons/edit-profiles.ts';
import type { ProfileEdit } from '../store/persons/profile-edit.ts';
import { undoMerge } from '../store/persons/undo-merge.ts';

export type ProfileDecision =
  | { readonly kind: 'merge'; readonly id: string; readonly into: string }
  /** Moves these fields, and the data of reservations with the same values, to a new profile. */
  | { readonly kind: 'split'; readonly id: string; readonly fields: readonly GuestKeyKind[] }
  /** Undoes an earlier merge. */
  | { readonly kind: 'separate'; readonly id: string; readonly merged: string };

/** An operator's decision about which profiles are one person. It overrides the automatic matching from then on. */
export async function editProfiles(
  runtime: Runtime,
  integration: string,
  decision: ProfileDecision,
): Promise<ProfileEdit> {
  const target = runtime.active().integrations.get(integration);
  if (target === undefined) {
    throw new InnboundError('documents.unknown_name', `There is no integration ${integration}.`);
  }
  const edited = await decide(runtime, target, decision);
  if (edited.kind === 'done') runtime.wake.signal('outbox');
  return edited;
}

function decide({ pool }: Runtime, target: Brand, decision: ProfileDecision): Promise<ProfileEdit> {
  const { kind, id } = decision;
  if (kind === 'merge') return mergeProfiles(pool, target, { from: id, into: decision.into });
  if (kind === 'separate') return undoMerge(pool, target, { id, from: decision.merged });
  const newId = (parts: readonly string[]) => {
    const text = JSON.stringify([target.integration, ...parts]);
    return `gst_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  };
  return splitProfile(pool, target, { id, fields: decision.fields }, newId);
}
