/** Clock and randomness of the adapter, for timeouts, pauses and unique tokens. Tests and simulations inject their own. */
export interface Time {
  /** Milliseconds since an arbitrary moment; never compared with the store's clock. */
  now(): number
  /** Resolves early when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** From 0 up to, not including, 1. */
  random(): number
}

export const realTime: Time = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener("abort", end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal?.addEventListener("abort", end)
    }),
  random: () => (crypto.getRandomValues(new Uint32Array(1))[0] as number) / 2 ** 32,
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
/** 62 bits: enough that no two writes of one session share a token. */
export const TOKEN_LENGTH = 12

/** A random, unique name. */
export function createToken(time: Time): string {
  let token = ""
  for (let n = 0; n < TOKEN_LENGTH; n++) token += DIGITS[Math.floor(time.random() * DIGITS.length)]
  return token
}
