/** The file that the API names in the mistakes of a document. */
export const fileOf = (kind: string, name: string): string =>
  kind === 'workspace' ? 'innbound.yaml' : `${kind}s/${name}.yaml`;
