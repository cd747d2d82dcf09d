/** Ticks, backoff and timestamps, in all runtimes. */

/** Resolves after one tick of the event loop, so that appends of the same tick join one batch. A timer would take a millisecond. */
export function tick(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown }
  if (setImmediate !== undefined) return new Promise((resolve) => void setImmediate(resolve))
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}

const FIRST_BACKOFF_MS = 25

/** Waits longer at each attempt, with jitter so that two conflicting writers do not retry at the same moment. */
export function backoff(attempt: number): Promise<void> {
  const most = FIRST_BACKOFF_MS * 2 ** attempt
  return new Promise((resolve) => setTimeout(resolve, most / 2 + (Math.random() * most) / 2))
}

/** The largest time of a `Date`, in milliseconds since 1970. */
export const LATEST_TIME = 8.64e15

let lastTime = 0
let lastText = new Date(0).toISOString()

/** Milliseconds since 1970 as ISO 8601. Appends of one millisecond share the text, since making it takes 5 % of an append on files. */
export function isoTime(at: number): string {
  if (at !== lastTime) {
    lastText = new Date(at).toISOString()
    lastTime = at
  }
  return lastText
}

/** Normalizes a timestamp to the one ISO 8601 form that sorts as text; undefined for anything that is not a time. */
export function toTime(text: unknown): string | undefined {
  // Parsing a time and writing it takes as long as parsing the line of a short message.
  if (typeof text === "string" && NORMAL_TIME.test(text)) return text
  const at = typeof text === "string" ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

/** Times in that form, of days that each month has. */
const NORMAL_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** Whether a time that {@link toTime} has given is before another one. */
export function isBefore(time: string, other: string): boolean {
  // Years beyond 9999 have more characters, and do not sort as text.
  return time.length === 24 && other.length === 24 ? time < other : Date.parse(time) < Date.parse(other)
}
