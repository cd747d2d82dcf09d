/** A progress line on standard error, for a terminal only. */
import type { Sink } from "../io.ts"
import { sanitizeLine } from "./sanitize.ts"

export interface Progress {
  /** Shows the text, on a terminal only: first after half a second, then at most ten times a second. */
  update(text: () => string): void
  /** Removes the line. Call it before any other output. */
  clear(): Promise<void>
}

/** Shorter work shows no progress. */
const DELAY_MS = 500
const INTERVAL_MS = 100

export function createProgress(sink: Sink, now: () => number): Progress {
  if (!sink.isTerminal) return { update: () => undefined, clear: async () => undefined }
  let next = now() + DELAY_MS
  let shown: Promise<void> | undefined
  return {
    update(text) {
      if (now() < next) return
      next = now() + INTERVAL_MS
      // A failure to show progress must not stop the work.
      shown = sink.write(`\r\u001b[K${sanitizeLine(text())}`).catch(() => undefined)
    },
    async clear() {
      if (shown === undefined) return
      await shown
      await sink.write("\r\u001b[K")
      shown = undefined
    },
  }
}
