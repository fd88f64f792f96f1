import { type Proposal, type ProposeOptions, proposeFromDescription } from '../suggest/from-openapi/propose.ts';
import { readApiDescription } from './api-description/read.ts';

export type Imported =
  | { readonly kind: 'ok'; readonly format: string; readonly proposal: Proposal & { kind: 'ok' } }
  | { readonly kind: 'wrong'; readonly message: string };

/** An API description's text to a proposed connector. Reads nothing but the text, and contacts nobody. */
export async function importDescription(text: string, options: ProposeOptions = {}): Promise<Imported> {
  const read = await readApiDescription(text);
  if (read.kind === 'wrong') return read;
  const proposal = proposeFromDescription(read.description, options);
  return proposal.kind === 'ok'
    ? { kind: 'ok', format: read.format, proposal }
    : { kind: 'wrong', message: proposal.message };
}
