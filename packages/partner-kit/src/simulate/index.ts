/** The simulator, for tests, the demo and the command line. */
export { type Shape, shapes } from './api.ts';
export type { SimulatorAuth } from './auth/guard.ts';
export { accidentForms } from './faults/records.ts';
export { type FaultKind, type FaultRule, faultKinds, faults, readRule } from './faults/rule.ts';
export type { HotelChange } from './hotel.ts';
export type { SimulatorOptions } from './options.ts';
export { type Paging, pagings } from './paging.ts';
export { type Property, shippedProperties } from './property.ts';
export { type DateForm, dateForms, type Exclusion, exclusions } from './query.ts';
export { type Detail, details } from './represent.ts';
export { runSimulate, sampleAuth } from './run.ts';
export { type Simulator, startSimulator } from './simulator.ts';
