/** What intake writes in place of a card number. Two cards with the same last digits look the same. */
export const cardToken = (lastFour: string): string => `[card ${lastFour}]`;
export const hasCardToken = /\[card \d{4}\]/;
