/** How many rooms a hotel can sell: this many from each night on. In the order of the nights; empty if it is not known. */
export type Capacity = readonly (readonly [from: string, rooms: number])[];
