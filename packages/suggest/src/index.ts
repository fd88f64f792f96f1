/** Everything that the service uses of this package. */
export type { ApiDescription, Operation, Parameter, SecurityScheme } from './from-openapi/model.ts';
export { type Proposal, type ProposeOptions, proposalYaml, proposeFromDescription } from './from-openapi/propose.ts';
export { exampleOf, flattened, propertiesOf, textOf, typeOf } from './from-openapi/schema.ts';
export { type LostValue, movedTo } from './moved-field.ts';
export { suggestionYaml } from './print.ts';
export { suggestConnector } from './suggest.ts';
