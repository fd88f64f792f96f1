export const periodLabels = { '15m': '15 min', '1h': '1 h', '24h': '24 h', '7d': '7 d' };
export type Period = keyof typeof periodLabels;
export const periodMs: Readonly<Record<Period, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
};
