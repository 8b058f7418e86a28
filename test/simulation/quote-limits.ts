/** Small enough to be met. */
export const quoteLock = {
  lifetimeSec: 60,
  spreadBps: 50,
  maxMicroUsdtOfPartner: 5_000_000n,
  maxMicroUsdt: 8_000_000n,
};
