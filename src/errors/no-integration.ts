/** The one wording for an integration that does not exist, or that the caller may not see. */
export function noIntegration(name: string, known?: Iterable<string>): string {
  if (known === undefined) return `There is no integration ${name}.`;
  return `There is no integration ${name}; known integrations: ${[...known].sort().join(', ') || 'none'}.`;
}
