/** Waiting and telling the time, in all runtimes. */

/** One turn of the event loop, so that what was about to be appended joins the group. Timers take a millisecond; this does not. */
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

/** Waits longer at each try, with jitter so that writers who met do not meet again. */
export function backoff(attempt: number): Promise<void> {
  const most = FIRST_BACKOFF_MS * 2 ** attempt
  return new Promise((resolve) => setTimeout(resolve, most / 2 + (Math.random() * most) / 2))
}

let told = { at: Number.NaN, text: "" }

/** ISO 8601. Many entries share a millisecond, and making the text is a tenth of what placing one of them costs. */
export function toIsoTime(at: number): string {
  if (told.at !== at) told = { at, text: new Date(at).toISOString() }
  return told.text
}

/** ISO 8601 in the one way in which times are compared and sorted as text; undefined for what is no time. */
export function toTime(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined
  if (text !== read.text) {
    const at = Date.parse(text)
    read = { text, time: Number.isNaN(at) ? undefined : new Date(at).toISOString() }
  }
  return read.time
}

/** What was read last: entries of one millisecond say the same. */
let read: { readonly text: string; readonly time: string | undefined } = { text: "", time: undefined }
