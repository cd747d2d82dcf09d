/** Clock and randomness of the adapter, for timeouts, pauses and unique tokens. Tests and simulations inject their own. */
import { onAbort } from "@sessions/core/storage"

export interface Time {
  /** Milliseconds since an arbitrary moment, never going back, with the time that the machine slept; never compared with the store's clock. */
  now(): number
  /** Resolves early when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** From 0 up to, not including, 1. */
  random(): number
}

/** A longer difference between the two clocks means that the machine slept, or that its time was set. */
const SLEPT_MS = 1_000

/** Steady, but with the time that the machine slept, which `performance.now()` leaves out on some systems. */
function createNow(): () => number {
  let now = 0
  let steady = performance.now()
  let wall = Date.now()
  return () => {
    const elapsed = performance.now() - steady
    const elapsedWall = Date.now() - wall
    steady += elapsed
    wall += elapsedWall
    now += elapsedWall - elapsed > SLEPT_MS ? elapsedWall : elapsed
    return now
  }
}

export const realTime: Time = {
  now: createNow(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        off?.()
        resolve()
      }
      const timer = setTimeout(end, ms)
      const off = signal === undefined ? undefined : onAbort(signal, end)
    }),
  random: () => (crypto.getRandomValues(new Uint32Array(1))[0] as number) / 2 ** 32,
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
/** 62 bits: enough that no two writes of one session share a token. */
export const TOKEN_LENGTH = 12

/** Whether a name has the form of a token. */
export function isToken(name: string): boolean {
  return /^[0-9a-z]{12}$/.test(name)
}

/** A random, unique name. */
export function createToken(time: Time): string {
  let token = ""
  for (let n = 0; n < TOKEN_LENGTH; n++) token += DIGITS[Math.floor(time.random() * DIGITS.length)]
  return token
}
