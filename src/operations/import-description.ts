import {
  type Proposal,
  type ProposeOptions,
  proposalYaml,
  proposeFromDescription,
} from '../../packages/suggest/src/index.ts';
import { parseForeignJson } from '../kit/json.ts';
import type { Json } from '../terms.ts';
import { readApiDescription } from './api-description/read.ts';

export interface ImportAsked {
  readonly description: string;
  readonly name: string;
  readonly operation?: string | undefined;
  readonly sample?: string | undefined;
}

type ShownPart = 'integration' | 'operations' | 'fields' | 'unmapped' | 'unknown' | 'notes';

export interface ImportProposal extends Pick<Proposal & { kind: 'ok' }, ShownPart> {
  readonly kind: 'ok';
  readonly format: string;
  readonly connector: string;
}

export interface ImportRefused {
  readonly kind: 'wrong';
  readonly message: string;
}

export type Imported =
  | { readonly kind: 'ok'; readonly format: string; readonly proposal: Proposal & { kind: 'ok' } }
  | { readonly kind: 'wrong'; readonly message: string };

/** An API description's text to a proposed connector. Reads only the text and sends no requests. */
export async function importDescription(text: string, options: ProposeOptions = {}): Promise<Imported> {
  const read = await readApiDescription(text);
  if (read.kind === 'wrong') return read;
  const proposal = proposeFromDescription(read.description, options);
  return proposal.kind === 'ok'
    ? { kind: 'ok', format: read.format, proposal }
    : { kind: 'wrong', message: proposal.message };
}

/** The same for the API: text in, text and plain data out. */
export async function importForApi(asked: ImportAsked): Promise<ImportProposal | ImportRefused> {
  const { description, name, operation } = asked;
  let sample: Json | undefined;
  try {
    sample = asked.sample === undefined ? undefined : parseForeignJson(asked.sample);
  } catch (error) {
    return { kind: 'wrong', message: `The sample is not JSON: ${(error as Error).message}` };
  }
  const imported = await importDescription(description, {
    name,
    ...(operation !== undefined && { operation }),
    ...(sample !== undefined && { sample }),
  });
  if (imported.kind === 'wrong') return imported;
  const { integration, operations, fields, unmapped, unknown, notes } = imported.proposal;
  return {
    kind: 'ok',
    format: imported.format,
    connector: proposalYaml(imported.proposal),
    integration,
    operations,
    fields,
    unmapped,
    unknown,
    notes,
  };
}
